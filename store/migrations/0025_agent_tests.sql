-- Tests of agents: which revisions were tested by what, and what came of it.

CREATE TABLE parley.test_runs (
  org text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL CHECK (char_length(id) BETWEEN 1 AND 128),
  agent_uid text COLLATE "C" NOT NULL,
  agent_name text COLLATE "C" NOT NULL CHECK (char_length(agent_name) BETWEEN 1 AND 253),
  revision text COLLATE "C" NOT NULL,
  -- Of the revision without the versions of Secrets and the like: revisions that differ in those alone need no tests of their own.
  config_hash text COLLATE "C" NOT NULL CHECK (config_hash ~ '^[0-9a-f]{64}$'),
  trigger text NOT NULL CHECK (trigger IN ('gate', 'request', 'schedule')),
  state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'finished', 'cancelled')),
  verdict text CHECK (verdict IN ('passed', 'failed', 'error')),
  requested_by text CHECK (char_length(requested_by) <= 256),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  -- Until it is over: when a worker has to see to it that it is worked on.
  due_at timestamptz(3) NOT NULL DEFAULT now(),
  started_at timestamptz(3),
  finished_at timestamptz(3),
  PRIMARY KEY (org, id),
  -- Runs go with what they tested.
  FOREIGN KEY (org, agent_uid, revision) REFERENCES parley.agent_revisions (org, agent_uid, revision) ON DELETE CASCADE,
  CHECK ((state IN ('finished', 'cancelled')) = (finished_at IS NOT NULL)),
  CHECK ((state = 'finished') = (verdict IS NOT NULL)),
  CHECK (state NOT IN ('running') OR started_at IS NOT NULL)
);

CREATE INDEX test_runs_of_agent ON parley.test_runs (org, agent_uid, revision);
CREATE INDEX test_runs_due ON parley.test_runs (due_at) WHERE state IN ('queued', 'running');
CREATE INDEX test_runs_over ON parley.test_runs (org, finished_at) WHERE finished_at IS NOT NULL;

CREATE TABLE parley.test_results (
  org text COLLATE "C" NOT NULL,
  run_id text COLLATE "C" NOT NULL,
  test_uid text COLLATE "C" NOT NULL CHECK (char_length(test_uid) BETWEEN 1 AND 128),
  test_name text COLLATE "C" NOT NULL CHECK (char_length(test_name) BETWEEN 1 AND 253),
  -- Of what the test says: with other words it is another test.
  test_digest text COLLATE "C" NOT NULL CHECK (test_digest ~ '^[0-9a-f]{64}$'),
  required boolean NOT NULL,
  mode text NOT NULL CHECK (mode IN ('text', 'audio')),
  -- As it was when the run was requested: later edits don't change the run.
  spec jsonb NOT NULL CHECK (jsonb_typeof(spec) = 'object' AND octet_length(spec::text) <= 4194304),
  verdict text CHECK (verdict IN ('passed', 'failed', 'error')),
  -- Attempts.
  passed int CHECK (passed >= 0),
  failed int CHECK (failed >= 0),
  flaky boolean,
  -- The first failure, for people.
  message text CHECK (char_length(message) <= 2000),
  -- Attempts with their transcripts and checks.
  result jsonb CHECK (octet_length(result::text) <= 8388608),
  finished_at timestamptz(3),
  PRIMARY KEY (org, run_id, test_uid),
  FOREIGN KEY (org, run_id) REFERENCES parley.test_runs (org, id) ON DELETE CASCADE,
  CHECK ((verdict IS NULL) = (finished_at IS NULL)),
  CHECK ((verdict IS NULL) = (passed IS NULL AND failed IS NULL AND flaky IS NULL))
);

CREATE INDEX test_results_of_test ON parley.test_results (org, test_uid, run_id DESC);

ALTER TABLE parley.test_runs ENABLE ROW LEVEL SECURITY;
ALTER TABLE parley.test_runs FORCE ROW LEVEL SECURITY;
CREATE POLICY own_organization ON parley.test_runs TO parley_app
  USING (org = current_setting('parley.org', true)) WITH CHECK (org = current_setting('parley.org', true));
CREATE POLICY leaving ON parley.test_runs TO CURRENT_USER USING (org = current_setting('parley.leaving', true));
GRANT SELECT, INSERT, DELETE, UPDATE (state, verdict, due_at, started_at, finished_at) ON parley.test_runs TO parley_app;

ALTER TABLE parley.test_results ENABLE ROW LEVEL SECURITY;
ALTER TABLE parley.test_results FORCE ROW LEVEL SECURITY;
CREATE POLICY own_organization ON parley.test_results TO parley_app
  USING (org = current_setting('parley.org', true)) WITH CHECK (org = current_setting('parley.org', true));
CREATE POLICY leaving ON parley.test_results TO CURRENT_USER USING (org = current_setting('parley.leaving', true));
GRANT SELECT, INSERT, DELETE, UPDATE (verdict, passed, failed, flaky, message, result, finished_at) ON parley.test_results TO parley_app;

-- Those that are due are looked for across organisations.
CREATE POLICY whereabouts ON parley.test_runs FOR SELECT TO parley_directory USING (true);
GRANT SELECT (org, id, state, due_at) ON parley.test_runs TO parley_directory;
