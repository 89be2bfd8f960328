-- How many calls each voice server can take now: what it reported, less what the api has given away since.
-- Worth nothing after a crash, so that it needs no log on disk.
CREATE UNLOGGED TABLE parley.voice_servers (
  id uuid PRIMARY KEY,
  -- LIVEKIT_AGENT_NAME: an api makes calls for the servers of its own.
  agent_name text COLLATE "C" NOT NULL CHECK (char_length(agent_name) BETWEEN 1 AND 100),
  free_places int NOT NULL CHECK (free_places >= 0),
  -- Since its last report.
  taken int NOT NULL DEFAULT 0,
  -- It has fewer calls than it may have, but too many of them are beginning.
  starting boolean NOT NULL,
  reported_at timestamptz NOT NULL
) WITH (fillfactor = 50);

-- It belongs to no organisation. The table is out of everybody's reach; the functions hold no more than these numbers.
ALTER TABLE parley.voice_servers ENABLE ROW LEVEL SECURITY;
ALTER TABLE parley.voice_servers FORCE ROW LEVEL SECURITY;
CREATE POLICY report ON parley.voice_servers TO parley_directory USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON parley.voice_servers TO parley_directory;

-- What was taken since the last report may be on its way to a server still: it is left out of one more report.
-- Servers that were killed are forgotten along with the reports of others.
CREATE FUNCTION parley.report_voice_server(server uuid, agent text, places int, begins boolean) RETURNS void
LANGUAGE sql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  DELETE FROM parley.voice_servers WHERE id IN (
    SELECT id FROM parley.voice_servers WHERE reported_at < now() - interval '1 minute' FOR UPDATE SKIP LOCKED);
  INSERT INTO parley.voice_servers AS known (id, agent_name, free_places, starting, reported_at) VALUES (server, agent, places, begins, clock_timestamp())
  ON CONFLICT (id) DO UPDATE SET free_places = greatest(0, excluded.free_places - known.taken), taken = 0,
    starting = excluded.starting OR known.taken > 0, reported_at = excluded.reported_at
$$;

CREATE FUNCTION parley.forget_voice_server(server uuid) RETURNS void
LANGUAGE sql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ DELETE FROM parley.voice_servers WHERE id = server $$;

-- Takes a place of any server. The media server chooses which one gets the call; the sum is what counts.
-- The rows are locked in one order, so that two never wait for each other, and each sees what the one before has left.
CREATE FUNCTION parley.take_voice_place(agent text, fresh_ms float8) RETURNS TABLE (reported boolean, taken boolean, starting boolean)
LANGUAGE sql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  WITH fresh AS MATERIALIZED (
    SELECT server.id, server.free_places, server.starting FROM parley.voice_servers AS server
    WHERE server.agent_name = agent AND server.reported_at > now() - fresh_ms * interval '1 millisecond'
    ORDER BY server.id FOR UPDATE
  ), took AS (
    UPDATE parley.voice_servers AS server SET free_places = server.free_places - 1, taken = server.taken + 1
    WHERE server.id = (SELECT fresh.id FROM fresh WHERE fresh.free_places > 0 ORDER BY fresh.free_places DESC LIMIT 1)
    RETURNING server.id
  )
  SELECT EXISTS (SELECT FROM fresh), EXISTS (SELECT FROM took), coalesce((SELECT bool_or(fresh.starting) FROM fresh), false)
$$;

GRANT CREATE ON SCHEMA parley TO parley_directory;
ALTER FUNCTION parley.report_voice_server(uuid, text, int, boolean) OWNER TO parley_directory;
ALTER FUNCTION parley.forget_voice_server(uuid) OWNER TO parley_directory;
ALTER FUNCTION parley.take_voice_place(text, float8) OWNER TO parley_directory;
REVOKE CREATE ON SCHEMA parley FROM parley_directory;

SET LOCAL ROLE parley_directory;
REVOKE ALL ON FUNCTION parley.report_voice_server(uuid, text, int, boolean) FROM PUBLIC;
REVOKE ALL ON FUNCTION parley.forget_voice_server(uuid) FROM PUBLIC;
REVOKE ALL ON FUNCTION parley.take_voice_place(text, float8) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION parley.report_voice_server(uuid, text, int, boolean) TO parley_app;
GRANT EXECUTE ON FUNCTION parley.forget_voice_server(uuid) TO parley_app;
GRANT EXECUTE ON FUNCTION parley.take_voice_place(text, float8) TO parley_app;
RESET ROLE;
