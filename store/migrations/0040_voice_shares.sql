-- Places of voice servers are shared: the last ones are kept for organisations that have fewer calls than others.

-- By organisation, since the last report: how much of `taken` is whose. Its calls may not be registered yet.
ALTER TABLE parley.voice_servers ADD COLUMN taken_by jsonb NOT NULL DEFAULT '{}';

GRANT CREATE ON SCHEMA parley TO parley_directory;
SET LOCAL ROLE parley_directory;

-- As in 0024_voice_servers.sql.
CREATE OR REPLACE FUNCTION parley.report_voice_server(server uuid, agent text, places int, begins boolean) RETURNS void
LANGUAGE sql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  DELETE FROM parley.voice_servers WHERE id IN (
    SELECT id FROM parley.voice_servers WHERE reported_at < now() - interval '1 minute' FOR UPDATE SKIP LOCKED);
  INSERT INTO parley.voice_servers AS known (id, agent_name, free_places, starting, reported_at) VALUES (server, agent, places, begins, clock_timestamp())
  ON CONFLICT (id) DO UPDATE SET free_places = greatest(0, excluded.free_places - known.taken), taken = 0, taken_by = '{}',
    starting = excluded.starting OR known.taken > 0, reported_at = excluded.reported_at
$$;

-- Takes a place of any server, as in 0024_voice_servers.sql, whose function the former version goes on using. Once no more than a tenth is free, and at least one place, an organisation
-- gets it only if it has less than its share of all: an equal part for each that has calls, and for one that may come.
CREATE FUNCTION parley.take_voice_place(agent text, fresh_ms float8, organization text)
RETURNS TABLE (reported boolean, taken boolean, starting boolean, reserved boolean)
LANGUAGE sql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  WITH fresh AS MATERIALIZED (
    SELECT server.id, server.free_places, server.starting, server.taken, coalesce((server.taken_by ->> organization)::int, 0) AS own
    FROM parley.voice_servers AS server
    WHERE server.agent_name = agent AND server.reported_at > now() - fresh_ms * interval '1 millisecond'
    ORDER BY server.id FOR UPDATE
  ), live AS (
    SELECT count(*) AS calls, count(*) FILTER (WHERE call.org = organization) AS own, count(DISTINCT call.org) AS organizations
    FROM parley.calls AS call WHERE call.status IN ('registered', 'ongoing')
  ), pool AS (
    SELECT sum(fresh.free_places) AS free, sum(fresh.free_places + fresh.taken) + max(live.calls) AS places,
      sum(fresh.own) + max(live.own) AS own, max(live.organizations) AS organizations
    FROM fresh, live
  ), kept AS (
    SELECT pool.free > 0 AND pool.free <= greatest(1, pool.places / 10) AND pool.own * greatest(2, pool.organizations + 1) >= pool.places
      AND (SELECT count(*) FROM (SELECT FROM parley.organizations LIMIT 2) AS two) = 2 AS back
    FROM pool
  ), took AS (
    UPDATE parley.voice_servers AS server SET free_places = server.free_places - 1, taken = server.taken + 1,
      taken_by = server.taken_by || jsonb_build_object(organization, coalesce((server.taken_by ->> organization)::int, 0) + 1)
    WHERE server.id = (
      SELECT fresh.id FROM fresh, kept WHERE fresh.free_places > 0 AND NOT kept.back ORDER BY fresh.free_places DESC LIMIT 1)
    RETURNING server.id
  )
  SELECT EXISTS (SELECT FROM fresh), EXISTS (SELECT FROM took), coalesce((SELECT bool_or(fresh.starting) FROM fresh), false),
    coalesce((SELECT kept.back FROM kept), false)
$$;

REVOKE ALL ON FUNCTION parley.take_voice_place(text, float8, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION parley.take_voice_place(text, float8, text) TO parley_app;
RESET ROLE;
REVOKE CREATE ON SCHEMA parley FROM parley_directory;
