-- An agent is its organisation and name. `kubectl replace --force`, a GitOps tool or a restore deletes an Agent and makes it again with another
-- uid: what serves, what was rolled back, what its tests said and what it spent today stays its own.

-- Not even from the owner of the tables are rows hidden meanwhile.
DO $$
DECLARE
  tenant_table text;
BEGIN
  FOREACH tenant_table IN ARRAY ARRAY['agent_revisions', 'agent_serving', 'agent_releases', 'agent_spending', 'test_runs', 'test_results', 'calls'] LOOP
    EXECUTE format('ALTER TABLE parley.%I NO FORCE ROW LEVEL SECURITY', tenant_table);
  END LOOP;
END
$$;

-- By their records: those of an agent without revisions are of nothing any more.
ALTER TABLE parley.agent_releases ADD COLUMN agent_name text COLLATE "C", DROP CONSTRAINT agent_releases_pkey;
UPDATE parley.agent_releases h SET agent_name = r.agent_name FROM parley.agent_revisions r WHERE (r.org, r.agent_uid) = (h.org, h.agent_uid);
DELETE FROM parley.agent_releases WHERE agent_name IS NULL;

ALTER TABLE parley.agent_spending ADD COLUMN agent_name text COLLATE "C", DROP CONSTRAINT agent_spending_pkey;
UPDATE parley.agent_spending s SET agent_name = r.agent_name FROM parley.agent_revisions r WHERE (r.org, r.agent_uid) = (s.org, s.agent_uid);
DELETE FROM parley.agent_spending WHERE agent_name IS NULL;
UPDATE parley.agent_spending s SET micros = whole.micros FROM (
  SELECT org, agent_name, quarter, currency, min(agent_uid) AS kept, sum(micros) AS micros FROM parley.agent_spending GROUP BY 1, 2, 3, 4) whole
WHERE (s.org, s.agent_uid, s.quarter, s.currency) = (whole.org, whole.kept, whole.quarter, whole.currency);
DELETE FROM parley.agent_spending s USING parley.agent_spending kept
WHERE (s.org, s.agent_name, s.quarter, s.currency) = (kept.org, kept.agent_name, kept.quarter, kept.currency) AND s.agent_uid > kept.agent_uid;

ALTER TABLE parley.test_results DROP CONSTRAINT test_results_pkey;
DELETE FROM parley.test_results t USING parley.test_results kept
WHERE (t.org, t.run_id, t.test_name) = (kept.org, kept.run_id, kept.test_name) AND t.test_uid > kept.test_uid;

-- Of several agents that had one name the last to serve keeps what it has.
ALTER TABLE parley.agent_serving DROP CONSTRAINT agent_serving_pkey, DROP CONSTRAINT agent_serving_org_agent_uid_revision_fkey,
  DROP CONSTRAINT agent_serving_org_agent_uid_canary_revision_fkey;
ALTER TABLE parley.test_runs DROP CONSTRAINT test_runs_org_agent_uid_revision_fkey;
ALTER TABLE parley.agent_revisions DROP CONSTRAINT agent_revisions_pkey;
DELETE FROM parley.agent_serving s USING parley.agent_serving kept
WHERE (s.org, s.agent_name) = (kept.org, kept.agent_name) AND s.agent_uid <> kept.agent_uid
  AND (coalesce(s.retired_at, 'infinity'), s.agent_uid) < (coalesce(kept.retired_at, 'infinity'), kept.agent_uid);
DELETE FROM parley.agent_revisions r USING parley.agent_revisions kept
WHERE (r.org, r.agent_name, r.revision) = (kept.org, kept.agent_name, kept.revision) AND r.agent_uid > kept.agent_uid;

DROP INDEX parley.agent_serving_by_name, parley.agent_revisions_newest_first, parley.test_runs_of_agent, parley.test_results_of_test, parley.calls_of_revision;
ALTER TABLE parley.agent_revisions DROP COLUMN agent_uid, ADD PRIMARY KEY (org, agent_name, revision);
-- What the configuration consists of, each part by its SHA-256: {agent, tools: {name: …}}. A rollback remembers which of them it is about.
ALTER TABLE parley.agent_revisions ADD COLUMN parts jsonb CHECK (jsonb_typeof(parts) = 'object');
ALTER TABLE parley.agent_serving DROP COLUMN agent_uid, ADD PRIMARY KEY (org, agent_name),
  ADD FOREIGN KEY (org, agent_name, revision) REFERENCES parley.agent_revisions (org, agent_name, revision),
  ADD FOREIGN KEY (org, agent_name, canary_revision) REFERENCES parley.agent_revisions (org, agent_name, revision);
ALTER TABLE parley.agent_releases DROP COLUMN agent_uid, ADD PRIMARY KEY (org, agent_name, id);
ALTER TABLE parley.agent_spending DROP COLUMN agent_uid, ADD PRIMARY KEY (org, agent_name, quarter, currency);
ALTER TABLE parley.test_runs DROP COLUMN agent_uid,
  ADD FOREIGN KEY (org, agent_name, revision) REFERENCES parley.agent_revisions (org, agent_name, revision) ON DELETE CASCADE;
ALTER TABLE parley.test_results DROP COLUMN test_uid, ADD PRIMARY KEY (org, run_id, test_name);
-- Whose revision the call has.
ALTER TABLE parley.calls DROP COLUMN agent_uid,
  ADD COLUMN talking_agent text COLLATE "C" NOT NULL GENERATED ALWAYS AS (coalesce(override_agent_name, agent_name)) STORED;

CREATE INDEX agent_revisions_newest_first ON parley.agent_revisions (org, agent_name, created_at DESC, revision);
CREATE INDEX test_runs_of_agent ON parley.test_runs (org, agent_name, revision);
CREATE INDEX test_results_of_test ON parley.test_results (org, test_name, run_id DESC);
CREATE INDEX calls_of_revision ON parley.calls (org, talking_agent, revision, ended_at) WHERE ended_at IS NOT NULL;
GRANT SELECT (agent_name, revision) ON parley.test_runs TO parley_directory;

CREATE OR REPLACE FUNCTION parley.add_agent_spending() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  more bigint := NEW.cost_micros;
BEGIN
  -- Who counts keeps to one table of prices, and so to one currency.
  IF TG_OP = 'UPDATE' THEN more := more - coalesce(OLD.cost_micros, 0); END IF;
  IF coalesce(more, 0) = 0 THEN RETURN NULL; END IF;
  INSERT INTO parley.agent_spending AS spent (org, agent_name, quarter, currency, micros)
  SELECT c.org, c.talking_agent, date_bin('15 minutes', c.created_at, '2000-01-01Z'), NEW.currency, more
  FROM parley.calls c WHERE c.org = NEW.org AND c.id = NEW.call_id AND c.test IS NULL
  ON CONFLICT (org, agent_name, quarter, currency) DO UPDATE SET micros = spent.micros + EXCLUDED.micros;
  RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION parley.ask_for_analysis() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF NEW.test IS NOT NULL THEN RETURN NULL; END IF;
  INSERT INTO parley.call_analyses (org, call_id)
  SELECT NEW.org, NEW.id FROM parley.agent_revisions r
  WHERE r.org = NEW.org AND r.agent_name = NEW.talking_agent AND r.revision = NEW.revision
    AND jsonb_path_exists(r.config, '$.agent.postCallAnalysis[0]')
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END
$$;

DO $$
DECLARE
  tenant_table text;
BEGIN
  FOREACH tenant_table IN ARRAY ARRAY['agent_revisions', 'agent_serving', 'agent_releases', 'agent_spending', 'test_runs', 'test_results', 'calls'] LOOP
    EXECUTE format('ALTER TABLE parley.%I FORCE ROW LEVEL SECURITY', tenant_table);
  END LOOP;
END
$$;

-- A person's promotion of what serves, whatever its tests say: {by, reason, at}.
ALTER TABLE parley.agent_serving ADD COLUMN promoted jsonb CHECK (jsonb_typeof(promoted) = 'object');
GRANT UPDATE (promoted) ON parley.agent_serving TO parley_app;

-- An Agent that was released while Postgres was unavailable is gone, and its row says that it takes calls: those that are not among the living
-- (`organisation/name`) take none from now on. within: of one organisation only.
CREATE FUNCTION parley.retire_agents(living text[], within text) RETURNS TABLE (org text, agent_name text)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  UPDATE parley.agent_serving s SET retired_at = now(), version = s.version + 1
  WHERE s.retired_at IS NULL AND s.org || '/' || s.agent_name <> ALL (living) AND (within IS NULL OR s.org = within)
  RETURNING s.org, s.agent_name
$$;

-- The same for knowledge bases, by uid: what their deletion policy was went with them, so that the documents are kept for a later one of the name.
CREATE FUNCTION parley.release_collections(living text[], within text) RETURNS TABLE (org text, name text)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  UPDATE parley.collections c SET released_at = now()
  WHERE c.released_at IS NULL AND c.deleted_at IS NULL AND c.uid <> ALL (living) AND (within IS NULL OR c.org = within)
  RETURNING c.org, c.name
$$;

CREATE POLICY whereabouts ON parley.agent_serving TO parley_directory USING (true);
GRANT SELECT (org, agent_name, retired_at, version), UPDATE (retired_at, version) ON parley.agent_serving TO parley_directory;
CREATE POLICY sweeping ON parley.collections TO parley_directory USING (true);
GRANT SELECT (org, name, uid, released_at, deleted_at), UPDATE (released_at) ON parley.collections TO parley_directory;
GRANT CREATE ON SCHEMA parley TO parley_directory;
ALTER FUNCTION parley.retire_agents(text[], text) OWNER TO parley_directory;
ALTER FUNCTION parley.release_collections(text[], text) OWNER TO parley_directory;
REVOKE CREATE ON SCHEMA parley FROM parley_directory;
SET LOCAL ROLE parley_directory;
REVOKE ALL ON FUNCTION parley.retire_agents(text[], text), parley.release_collections(text[], text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION parley.retire_agents(text[], text), parley.release_collections(text[], text) TO parley_app;
RESET ROLE;
