-- Calls that tests of agents make: real calls, but not of the organisation's users.

-- The run, the test, and the answers that stand in for tools; absent for every other call.
ALTER TABLE parley.calls ADD COLUMN test jsonb CHECK (jsonb_typeof(test) = 'object' AND octet_length(test::text) <= 2097152);

-- The limit is for users: how many tests run at once is the worker's concern.
CREATE OR REPLACE FUNCTION parley.limit_live_calls() RETURNS trigger
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  allowed int;
BEGIN
  IF NEW.test IS NOT NULL OR NEW.status NOT IN ('registered', 'ongoing') THEN RETURN NEW; END IF;
  SELECT live_call_limit INTO allowed FROM parley.organizations WHERE name = NEW.org FOR NO KEY UPDATE;
  -- The same call again, after a lost connection: it is in the count already, and the insertion does nothing.
  IF EXISTS (SELECT FROM parley.calls WHERE org = NEW.org AND id = NEW.id) THEN RETURN NEW; END IF;
  IF (SELECT count(*) FROM parley.calls WHERE org = NEW.org AND test IS NULL AND status IN ('registered', 'ongoing')) >= allowed THEN
    RAISE EXCEPTION '% live calls are the most that this organisation may have', allowed USING ERRCODE = 'PCL01';
  END IF;
  RETURN NEW;
END
$$;

-- The test itself asks for the analysis that it checks.
CREATE OR REPLACE FUNCTION parley.ask_for_analysis() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF NEW.test IS NOT NULL THEN RETURN NULL; END IF;
  INSERT INTO parley.call_analyses (org, call_id)
  SELECT NEW.org, NEW.id FROM parley.agent_revisions r
  WHERE r.org = NEW.org AND r.agent_uid = NEW.agent_uid AND r.revision = NEW.revision
    AND jsonb_path_exists(r.config, '$.agent.postCallAnalysis[0]')
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END
$$;

-- Workflows of runs are named after what they test.
GRANT SELECT (agent_uid, revision) ON parley.test_runs TO parley_directory;
