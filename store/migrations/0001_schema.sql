-- The schema of Parley. Later changes come as migrations of their own: 0002_what_it_adds.sql.
--
-- Three roles, made before the first migration: parley_app is every query of one organisation (`parley.org` says which), parley_directory finds whose
-- something is before any organisation is known, and parley_dispatcher sends the events of all. None of them can log in, own a table or pass row-level
-- security; the last section says once what holds for every table and every function.
-- Times that travel through JavaScript are whole milliseconds, as its dates are.

GRANT USAGE ON SCHEMA parley TO parley_app, parley_directory, parley_dispatcher;
GRANT SELECT ON parley.schema_migrations TO parley_app, parley_dispatcher;

-- --- Organisations and who may ask

-- The name is the name of the Kubernetes namespace; the row exists so that other rows can refer to it.
CREATE TABLE parley.organizations (
  name text COLLATE "C" PRIMARY KEY CHECK (name ~ '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$'),
  display_name text NOT NULL DEFAULT '' CHECK (char_length(display_name) <= 200),
  -- How many calls of users may be registered or ongoing at the same time.
  live_call_limit int NOT NULL DEFAULT 10 CHECK (live_call_limit BETWEEN 0 AND 100000),
  recording_enabled boolean NOT NULL DEFAULT true,
  -- Without a number of days, what there is stays.
  recording_retention_days int CHECK (recording_retention_days BETWEEN 1 AND 36500),
  call_retention_days int CHECK (call_retention_days BETWEEN 1 AND 36500),
  created_at timestamptz(3) NOT NULL DEFAULT now()
);

GRANT SELECT, INSERT, UPDATE (display_name, live_call_limit, recording_enabled, recording_retention_days, call_retention_days)
  ON parley.organizations TO parley_app;
CREATE POLICY names_of_all ON parley.organizations FOR SELECT TO parley_directory USING (true);
GRANT SELECT ON parley.organizations TO parley_directory;

-- The clear key is never stored: secret_hash is the SHA-256 of the whole key.
CREATE TABLE parley.api_keys (
  org text COLLATE "C" NOT NULL REFERENCES parley.organizations (name),
  key_id text COLLATE "C" NOT NULL CHECK (key_id ~ '^key_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'),
  public_id text NOT NULL UNIQUE CHECK (public_id ~ '^[0-9A-Za-z]{8}$'),
  secret_hash bytea NOT NULL CHECK (octet_length(secret_hash) = 32),
  last_four text NOT NULL CHECK (char_length(last_four) = 4),
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
  permissions text[] NOT NULL CHECK (cardinality(permissions) <= 32),
  -- Whom it acts for: what is made with it records that user.
  user_id text CHECK (char_length(user_id) BETWEEN 1 AND 200),
  created_by_user_id text CHECK (char_length(created_by_user_id) <= 200),
  -- What a leaked key has made is found, and revoked with it. No reference: a key is deleted after those that it made.
  created_by_key text COLLATE "C" CHECK (char_length(created_by_key) <= 64),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expiration_date timestamptz(3) NOT NULL,
  revoked_at timestamptz(3),
  PRIMARY KEY (org, key_id)
);

CREATE INDEX api_keys_newest_first ON parley.api_keys (org, created_at DESC, key_id DESC);
CREATE INDEX api_keys_by_maker ON parley.api_keys (org, created_by_key) WHERE created_by_key IS NOT NULL;

GRANT SELECT, INSERT, DELETE, UPDATE (revoked_at) ON parley.api_keys TO parley_app;

-- A request's organisation is known only from its key, so one lookup has to come before any organisation is set.
-- It runs as parley_directory, which may read these columns and no others, and finds a single key by its public part.
CREATE POLICY lookup_by_public_id ON parley.api_keys FOR SELECT TO parley_directory USING (true);
GRANT SELECT (org, key_id, public_id, secret_hash, last_four, name, permissions, user_id, created_by_user_id, created_at, expiration_date, revoked_at)
  ON parley.api_keys TO parley_directory;

CREATE FUNCTION parley.find_api_key(wanted text)
RETURNS TABLE (
  org text, key_id text, secret_hash bytea, last_four text, name text, permissions text[],
  user_id text, created_by_user_id text, created_at timestamptz, expiration_date timestamptz, revoked_at timestamptz
)
LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT k.org, k.key_id, k.secret_hash, k.last_four, k.name, k.permissions,
         k.user_id, k.created_by_user_id, k.created_at, k.expiration_date, k.revoked_at
  FROM parley.api_keys k
  WHERE k.public_id = wanted
$$;

-- What the replicas tell each other of the requests that they have let through. Worth nothing after a crash, so that it needs no log on disk.
-- A row is one bucket: `full_at` is when it will be full again, and how far that lies ahead is how much has been taken from it.
CREATE UNLOGGED TABLE parley.rate_limits (
  subject text COLLATE "C" PRIMARY KEY CHECK (char_length(subject) BETWEEN 1 AND 200),
  full_at timestamptz NOT NULL,
  -- What the last exchange added: an upsert has to know it apart from the sum.
  last_taken interval NOT NULL
);

-- One exchange is about keys of many organisations, so that it can't run as one of them. The table is out of everybody's
-- reach; the function takes and answers amounts of time for subjects that the caller names, and nothing else.
CREATE POLICY exchange ON parley.rate_limits TO parley_directory USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON parley.rate_limits TO parley_directory;

-- Ordered, so that two exchanges never wait for each other.
-- What was taken counts from when the first of it was taken, not from when it is told: time gives it back from then on.
CREATE FUNCTION parley.exchange_rate_limits(subjects text[], taken_ms float8[], ago_ms float8[])
RETURNS TABLE (subject text, ahead_ms float8)
LANGUAGE sql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  INSERT INTO parley.rate_limits AS bucket (subject, full_at, last_taken)
  SELECT given.subject, now() + (given.ms - given.ago) * interval '1 millisecond', given.ms * interval '1 millisecond'
  FROM unnest(subjects, taken_ms, ago_ms) AS given (subject, ms, ago) ORDER BY given.subject
  ON CONFLICT ON CONSTRAINT rate_limits_pkey DO UPDATE
    SET full_at = greatest(bucket.full_at + excluded.last_taken, excluded.full_at), last_taken = excluded.last_taken
  RETURNING bucket.subject, extract(epoch FROM bucket.full_at - now())::float8 * 1000
$$;

CREATE FUNCTION parley.forget_full_rate_limits() RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  DELETE FROM parley.rate_limits AS bucket WHERE bucket.subject IN (
    SELECT idle.subject FROM parley.rate_limits AS idle WHERE idle.full_at < now() - interval '1 minute'
    ORDER BY idle.subject FOR UPDATE SKIP LOCKED)
$$;

-- What was answered to requests with an Idempotency-Key, so that a client that has lost the answer gets it again and nothing is made twice.
CREATE TABLE parley.idempotent_requests (
  org text COLLATE "C" NOT NULL REFERENCES parley.organizations (name),
  -- The API key that sent it, and what the client calls the request.
  api_key_id text COLLATE "C" NOT NULL CHECK (char_length(api_key_id) BETWEEN 1 AND 64),
  key text COLLATE "C" NOT NULL CHECK (char_length(key) BETWEEN 1 AND 200),
  -- SHA-256 of its method, address and body.
  fingerprint bytea NOT NULL CHECK (octet_length(fingerprint) = 32),
  made_at timestamptz(3) NOT NULL DEFAULT now(),
  -- Until then somebody carries it out; if there is no answer by then, it may be carried out again.
  claimed_until timestamptz(3) NOT NULL,
  -- Encrypted: whoever has the API key can read it, and nobody else.
  answer bytea CHECK (octet_length(answer) <= 4194304),
  PRIMARY KEY (org, api_key_id, key)
);

CREATE INDEX idempotent_requests_by_age ON parley.idempotent_requests (org, made_at);

GRANT SELECT, INSERT, UPDATE, DELETE ON parley.idempotent_requests TO parley_app;

-- What page tokens and the addresses of recordings are signed with: made here once, the same for all replicas, and guessable from nothing else.
-- Random by the server's own generator: two version 4 UUIDs have 244 bits.
CREATE TABLE parley.signing_secret (
  only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
  secret bytea NOT NULL CHECK (octet_length(secret) = 32)
);
INSERT INTO parley.signing_secret (secret) VALUES (sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())));

-- Out of everybody's reach but for the function.
CREATE POLICY one_reader ON parley.signing_secret FOR SELECT TO parley_directory USING (true);
GRANT SELECT ON parley.signing_secret TO parley_directory;

CREATE FUNCTION parley.signing_secret() RETURNS bytea
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ SELECT secret FROM parley.signing_secret $$;

-- --- Agents, their revisions and releases, their tests and tools

-- An agent is its organisation and name. `kubectl replace --force`, a GitOps tool or a restore deletes an Agent and makes it again with another
-- uid: what serves, what was rolled back, what its tests said and what it spent today stays its own.

-- What calls run on: compiled agents, each revision written once and never changed.
CREATE TABLE parley.agent_revisions (
  org text COLLATE "C" NOT NULL REFERENCES parley.organizations (name),
  agent_name text COLLATE "C" NOT NULL CHECK (char_length(agent_name) BETWEEN 1 AND 253),
  revision text COLLATE "C" NOT NULL CHECK (revision ~ '^[0-9a-f]{64}$'),
  config jsonb NOT NULL,
  -- What the configuration consists of, each part by its SHA-256: {agent, tools: {name: …}}. A rollback remembers which of them it is about.
  parts jsonb CHECK (jsonb_typeof(parts) = 'object'),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (org, agent_name, revision)
);

CREATE INDEX agent_revisions_newest_first ON parley.agent_revisions (org, agent_name, created_at DESC, revision);

GRANT SELECT, INSERT, DELETE ON parley.agent_revisions TO parley_app;

CREATE FUNCTION parley.refuse_change() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RAISE EXCEPTION 'a revision is immutable: write a new one' USING ERRCODE = 'object_not_in_prerequisite_state';
END
$$;

-- Not even the owner of the table changes a revision. Deleting one is the business of the housekeeping.
CREATE TRIGGER agent_revisions_are_immutable BEFORE UPDATE ON parley.agent_revisions
  FOR EACH ROW EXECUTE FUNCTION parley.refuse_change();

-- What new calls start with.
CREATE TABLE parley.agent_serving (
  org text COLLATE "C" NOT NULL REFERENCES parley.organizations (name),
  agent_name text COLLATE "C" NOT NULL,
  revision text COLLATE "C" NOT NULL,
  -- What the spec asked for when the revision came into service, apart from the versions of Secrets.
  config_hash text COLLATE "C" CHECK (char_length(config_hash) <= 64),
  active_since timestamptz(3) NOT NULL DEFAULT now(),
  canary_revision text COLLATE "C",
  canary_config_hash text COLLATE "C" CHECK (char_length(canary_config_hash) <= 64),
  canary_percent int CHECK (canary_percent BETWEEN 1 AND 99),
  canary_since timestamptz(3),
  -- Revisions that are not served again by themselves, the latest last: [{revision, configHash, aborted, reason, by, at}].
  rolled_back jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(rolled_back) = 'array'),
  -- A person's promotion of what serves, whatever its tests say: {by, reason, at}.
  promoted jsonb CHECK (jsonb_typeof(promoted) = 'object'),
  -- What the calls of an agent may cost in a day, as its spec has it now, whichever revisions serve: {daily, currency, timeZone}. Null for any.
  budget jsonb CHECK (jsonb_typeof(budget) = 'object'),
  -- Counts the changes: who decided on a former state decides again.
  version int NOT NULL DEFAULT 0,
  -- When the agent was deleted.
  retired_at timestamptz(3),
  PRIMARY KEY (org, agent_name),
  -- Keep the housekeeping from ever taking a revision that serves.
  FOREIGN KEY (org, agent_name, revision) REFERENCES parley.agent_revisions (org, agent_name, revision),
  FOREIGN KEY (org, agent_name, canary_revision) REFERENCES parley.agent_revisions (org, agent_name, revision),
  CHECK (num_nulls(canary_revision, canary_config_hash, canary_percent, canary_since) IN (0, 4))
);

GRANT SELECT, INSERT, DELETE, UPDATE (agent_name, revision, config_hash, active_since, canary_revision, canary_config_hash, canary_percent,
  canary_since, rolled_back, promoted, budget, version, retired_at) ON parley.agent_serving TO parley_app;
CREATE POLICY whereabouts ON parley.agent_serving TO parley_directory USING (true);
GRANT SELECT (org, agent_name, retired_at, version), UPDATE (retired_at, version) ON parley.agent_serving TO parley_directory;

-- An Agent that was released while Postgres was unavailable is gone, and its row says that it takes calls: those that are not among the living
-- (`organisation/name`) take none from now on. within: of one organisation only.
CREATE FUNCTION parley.retire_agents(living text[], within text) RETURNS TABLE (org text, agent_name text)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  UPDATE parley.agent_serving s SET retired_at = now(), version = s.version + 1
  WHERE s.retired_at IS NULL AND s.org || '/' || s.agent_name <> ALL (living) AND (within IS NULL OR s.org = within)
  RETURNING s.org, s.agent_name
$$;

-- Each change of what serves.
CREATE TABLE parley.agent_releases (
  org text COLLATE "C" NOT NULL REFERENCES parley.organizations (name),
  agent_name text COLLATE "C" NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY,
  change text NOT NULL CHECK (change IN ('served', 'pinned', 'canary_began', 'canary_ended', 'promoted', 'aborted', 'rolled_back')),
  -- What new calls start with since then, or some of them where a canary began.
  revision text COLLATE "C" NOT NULL CHECK (revision ~ '^[0-9a-f]{64}$'),
  config_hash text COLLATE "C" CHECK (char_length(config_hash) <= 64),
  -- What no new call starts with since then. No reference: the record outlives revisions.
  replaced text COLLATE "C" CHECK (replaced ~ '^[0-9a-f]{64}$'),
  reason text CHECK (char_length(reason) <= 1000),
  -- The user of an API key, or its id; null where the operator did it.
  requested_by text CHECK (char_length(requested_by) <= 200),
  at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (org, agent_name, id)
);

GRANT SELECT, INSERT, DELETE ON parley.agent_releases TO parley_app;

-- Which revisions were tested by what, and what came of it.
CREATE TABLE parley.test_runs (
  org text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL CHECK (char_length(id) BETWEEN 1 AND 128),
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
  FOREIGN KEY (org, agent_name, revision) REFERENCES parley.agent_revisions (org, agent_name, revision) ON DELETE CASCADE,
  CHECK ((state IN ('finished', 'cancelled')) = (finished_at IS NOT NULL)),
  CHECK ((state = 'finished') = (verdict IS NOT NULL)),
  CHECK (state NOT IN ('running') OR started_at IS NOT NULL)
);

CREATE INDEX test_runs_of_agent ON parley.test_runs (org, agent_name, revision);
CREATE INDEX test_runs_due ON parley.test_runs (due_at) WHERE state IN ('queued', 'running');
CREATE INDEX test_runs_over ON parley.test_runs (org, finished_at) WHERE finished_at IS NOT NULL;

GRANT SELECT, INSERT, DELETE, UPDATE (state, verdict, due_at, started_at, finished_at) ON parley.test_runs TO parley_app;

-- Those that are due are looked for across organisations. Workflows of runs are named after what they test.
CREATE POLICY whereabouts ON parley.test_runs FOR SELECT TO parley_directory USING (true);
GRANT SELECT (org, id, agent_name, revision, state, due_at) ON parley.test_runs TO parley_directory;

CREATE TABLE parley.test_results (
  org text COLLATE "C" NOT NULL,
  run_id text COLLATE "C" NOT NULL,
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
  PRIMARY KEY (org, run_id, test_name),
  FOREIGN KEY (org, run_id) REFERENCES parley.test_runs (org, id) ON DELETE CASCADE,
  CHECK ((verdict IS NULL) = (finished_at IS NULL)),
  CHECK ((verdict IS NULL) = (passed IS NULL AND failed IS NULL AND flaky IS NULL))
);

CREATE INDEX test_results_of_test ON parley.test_results (org, test_name, run_id DESC);

GRANT SELECT, INSERT, DELETE, UPDATE (verdict, passed, failed, flaky, message, result, finished_at) ON parley.test_results TO parley_app;

-- Lists of the tools of MCP servers: what the operator wants to know, and what a worker has been told.
CREATE TABLE parley.tool_lists (
  org text COLLATE "C" NOT NULL,
  tool_uid text COLLATE "C" NOT NULL CHECK (char_length(tool_uid) BETWEEN 1 AND 128),
  tool_name text COLLATE "C" NOT NULL CHECK (char_length(tool_name) BETWEEN 1 AND 253),
  -- How the server is asked: address, headers and credentials as the spec has them. Secrets by name and key, never by value.
  request jsonb NOT NULL CHECK (jsonb_typeof(request) = 'object' AND octet_length(request::text) <= 262144),
  -- Of the request, and of everything else that makes another attempt worthwhile: versions of Secrets, a user's wish.
  request_digest text COLLATE "C" NOT NULL CHECK (request_digest ~ '^[0-9a-f]{64}$'),
  -- When a worker asks the server; while one does, when another may take over.
  due_at timestamptz(3) NOT NULL DEFAULT now(),
  -- What the server said last, and when it said so for the first time.
  latest jsonb CHECK (jsonb_typeof(latest) = 'array' AND octet_length(latest::text) <= 4194304),
  latest_at timestamptz(3),
  -- What agents use.
  accepted jsonb CHECK (jsonb_typeof(accepted) = 'array' AND octet_length(accepted::text) <= 4194304),
  -- The owner has changed the address: the list of the new server is accepted as that of a new tool is.
  accept_next boolean NOT NULL DEFAULT true,
  -- Why the last attempts failed, for people.
  failure text CHECK (char_length(failure) <= 1000),
  failures int NOT NULL DEFAULT 0 CHECK (failures >= 0),
  PRIMARY KEY (org, tool_uid),
  CHECK ((latest IS NULL) = (latest_at IS NULL)),
  CHECK ((failure IS NULL) = (failures = 0))
);

CREATE INDEX tool_lists_due ON parley.tool_lists (due_at);

GRANT SELECT, INSERT, UPDATE, DELETE ON parley.tool_lists TO parley_app;

-- Those that are due are looked for across organisations, and so are those whose tool is gone.
CREATE POLICY whereabouts ON parley.tool_lists FOR SELECT TO parley_directory USING (true);
GRANT SELECT (org, tool_uid, due_at) ON parley.tool_lists TO parley_directory;

-- --- Calls: who talked to which revision of which agent, what was said, how it ended, what it cost

CREATE TABLE parley.calls (
  org text COLLATE "C" NOT NULL REFERENCES parley.organizations (name),
  -- Made in the order of time. A media server tells a job nothing but this, so that it is one call's in the whole deployment.
  id text COLLATE "C" NOT NULL UNIQUE CHECK (id ~ '^call_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'),
  call_type text NOT NULL CHECK (call_type IN ('web_call', 'phone_call')),
  direction text CHECK (direction IN ('inbound', 'outbound')),
  status text NOT NULL CHECK (status IN ('registered', 'ongoing', 'ended', 'error')),
  finish_reason text,
  -- As it was asked for, by names; who talks is the second where there is one.
  agent_name text COLLATE "C" NOT NULL CHECK (char_length(agent_name) BETWEEN 1 AND 253),
  agent_display_name text NOT NULL CHECK (char_length(agent_display_name) <= 253),
  override_agent_name text COLLATE "C" CHECK (char_length(override_agent_name) BETWEEN 1 AND 253),
  -- Who talks, and the configuration that it keeps to its end. No reference: calls outlive revisions.
  talking_agent text COLLATE "C" NOT NULL GENERATED ALWAYS AS (coalesce(override_agent_name, agent_name)) STORED,
  revision text COLLATE "C" NOT NULL CHECK (revision ~ '^[0-9a-f]{64}$'),
  -- Whether the call was one of a canary.
  canary boolean NOT NULL DEFAULT false,
  -- Of the agent: what its events are of.
  workspace text COLLATE "C" CHECK (char_length(workspace) BETWEEN 1 AND 253),
  max_duration_ms int NOT NULL CHECK (max_duration_ms > 0),
  room text COLLATE "C" NOT NULL UNIQUE CHECK (char_length(room) BETWEEN 1 AND 200),
  -- Until when its token opens the room; of a web call.
  token_expires_at timestamptz(3),
  from_number text CHECK (char_length(from_number) <= 256),
  to_number text CHECK (char_length(to_number) <= 256),
  sip_call_id text COLLATE "C" CHECK (char_length(sip_call_id) BETWEEN 1 AND 256),
  metadata jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(metadata) = 'object'),
  dynamic_data jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(dynamic_data) = 'object'),
  -- The run, the test, and the answers that stand in for tools; absent for every call that is none of a test.
  test jsonb CHECK (jsonb_typeof(test) = 'object' AND octet_length(test::text) <= 2097152),
  -- In the course of which trace it was registered (W3C Trace Context): what is done about it later belongs to it. NULL where nobody traces.
  traceparent text COLLATE "C" CHECK (char_length(traceparent) = 55),
  created_by text CHECK (char_length(created_by) <= 200),
  -- A key that may do nothing but make calls sees its own.
  created_by_key text COLLATE "C" CHECK (char_length(created_by_key) <= 64),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  -- The first media.
  started_at timestamptz(3),
  ended_at timestamptz(3),
  -- Which job serves the call, and when it was last heard of.
  job_id text COLLATE "C" CHECK (char_length(job_id) BETWEEN 1 AND 128),
  job_seen_at timestamptz(3),
  -- As it was decided when the call was registered; the time is the agent's own, in place of the organisation's days.
  recording_enabled boolean NOT NULL DEFAULT true,
  recording_retention_ms bigint CHECK (recording_retention_ms > 0),
  recording_key text CHECK (char_length(recording_key) <= 512),
  recording_bytes bigint CHECK (recording_bytes >= 0),
  recording_duration_ms bigint CHECK (recording_duration_ms >= 0),
  recorded_at timestamptz(3),
  PRIMARY KEY (org, id),
  CHECK ((call_type = 'phone_call') = (direction IS NOT NULL)),
  CHECK ((recording_key IS NULL) = (recorded_at IS NULL)),
  -- A call that is over has a reason that fits, and a time; one that isn't has neither.
  CHECK ((status IN ('ended', 'error')) = (ended_at IS NOT NULL)),
  CHECK (status <> 'ongoing' OR started_at IS NOT NULL),
  CHECK (CASE status
    WHEN 'ended' THEN finish_reason IS NOT NULL AND finish_reason IN (
      'user_ended_call', 'agent_ended_call', 'call_transferred', 'inactivity_timeout', 'maximum_duration_exceeded', 'line_busy', 'no_answer')
    WHEN 'error' THEN finish_reason IS NOT NULL AND finish_reason IN (
      'concurrent_call_limit_reached', 'invalid_payment', 'potential_scam_detected', 'inbound_webhook_error', 'call_failed',
      'llm_websocket_initialization_error', 'llm_websocket_connection_lost', 'llm_websocket_runtime_error',
      'llm_websocket_payload_corruption', 'carrier_error', 'no_audio_input', 'speech_recognition_error',
      'native_platform_internal_error', 'unknown_error', 'user_connection_failure')
    ELSE finish_reason IS NULL
  END)
);

CREATE INDEX calls_live ON parley.calls (org) WHERE status IN ('registered', 'ongoing');
-- Of all organisations together: for what looks after calls that nobody ends.
CREATE INDEX calls_unfinished ON parley.calls (created_at) WHERE status IN ('registered', 'ongoing');
-- A gateway that reports the same incoming call again means the same call.
CREATE UNIQUE INDEX calls_by_sip_call ON parley.calls (org, sip_call_id, to_number) WHERE direction = 'inbound' AND sip_call_id IS NOT NULL;
-- What the housekeeping looks through, the oldest first.
CREATE INDEX calls_over ON parley.calls (org, ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX calls_with_recording ON parley.calls (org, ended_at) WHERE recording_key IS NOT NULL;
-- What came of the calls of a revision, the latest first.
CREATE INDEX calls_of_revision ON parley.calls (org, talking_agent, revision, ended_at) WHERE ended_at IS NOT NULL;
-- For sums over days.
CREATE INDEX calls_made ON parley.calls (org, created_at);

-- What a call is and whom it is with is final. What it was registered with is joined by what was looked up for it before it began.
GRANT SELECT, INSERT, DELETE, UPDATE (status, finish_reason, started_at, ended_at, sip_call_id, job_id, job_seen_at, dynamic_data,
  recording_key, recording_bytes, recording_duration_ms, recorded_at) ON parley.calls TO parley_app;
-- Calls that nobody ends are looked for across organisations, by their times alone; analyses are begun in the same way.
CREATE POLICY whereabouts ON parley.calls FOR SELECT TO parley_directory USING (true);
GRANT SELECT (org, id, room, status, created_at, started_at, job_seen_at, max_duration_ms, traceparent) ON parley.calls TO parley_directory;

-- The limit holds for everything that inserts a call of a user: how many tests run at once is the worker's concern. Live calls are counted, not
-- remembered: whatever dies, the number is right. The row of the organisation makes them come one after the other; what is counted behind the lock
-- sees all who had it before.
CREATE FUNCTION parley.limit_live_calls() RETURNS trigger
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

CREATE TRIGGER calls_are_limited BEFORE INSERT ON parley.calls FOR EACH ROW EXECUTE FUNCTION parley.limit_live_calls();

-- Whatever a statement says: how a call ended stays as it was, and no call goes back.
CREATE FUNCTION parley.refuse_call_change() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RAISE EXCEPTION 'a call that is % does not become %', OLD.status, NEW.status USING ERRCODE = 'object_not_in_prerequisite_state';
END
$$;

CREATE TRIGGER calls_go_forward BEFORE UPDATE OF status, finish_reason, ended_at ON parley.calls FOR EACH ROW
  WHEN (OLD.status IN ('ended', 'error') OR (OLD.status = 'ongoing' AND NEW.status = 'registered'))
  EXECUTE FUNCTION parley.refuse_call_change();

-- A job is told the id of its call and nothing else: whose it is has to be found before any organisation is set.
CREATE FUNCTION parley.organization_of_call(wanted text) RETURNS text
LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ SELECT c.org FROM parley.calls c WHERE c.id = wanted $$;

-- The media server tells of rooms. Which call a room is of has to be found before any organisation is set.
CREATE FUNCTION parley.call_of_room(wanted text) RETURNS TABLE (org text, id text)
LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ SELECT c.org, c.id FROM parley.calls c WHERE c.room = wanted $$;

-- What was said, as the job numbers it.
CREATE TABLE parley.call_messages (
  org text COLLATE "C" NOT NULL,
  call_id text COLLATE "C" NOT NULL,
  seq int NOT NULL CHECK (seq >= 0),
  role text NOT NULL CHECK (role IN ('agent', 'user')),
  content text NOT NULL CHECK (octet_length(content) <= 65536),
  spoken_at timestamptz(3) NOT NULL,
  -- The user cut in, and the rest of it was not heard.
  interrupted boolean NOT NULL DEFAULT false,
  -- What of the knowledge base the answer rests on.
  sources jsonb CHECK (jsonb_typeof(sources) = 'array'),
  PRIMARY KEY (org, call_id, seq),
  FOREIGN KEY (org, call_id) REFERENCES parley.calls (org, id) ON DELETE CASCADE
);

-- What each answer took, in milliseconds.
CREATE TABLE parley.call_turns (
  org text COLLATE "C" NOT NULL,
  call_id text COLLATE "C" NOT NULL,
  seq int NOT NULL CHECK (seq >= 0),
  eou real CHECK (eou >= 0),
  stt real CHECK (stt >= 0),
  llm_ttft real CHECK (llm_ttft >= 0),
  tts_ttfb real CHECK (tts_ttfb >= 0),
  v2v real CHECK (v2v >= 0),
  PRIMARY KEY (org, call_id, seq),
  FOREIGN KEY (org, call_id) REFERENCES parley.calls (org, id) ON DELETE CASCADE
);

GRANT SELECT, INSERT, DELETE ON parley.call_messages, parley.call_turns TO parley_app;

-- What the model had done by tools in a call, and what they answered it.
CREATE TABLE parley.call_tool_calls (
  org text COLLATE "C" NOT NULL,
  call_id text COLLATE "C" NOT NULL,
  seq int NOT NULL CHECK (seq >= 0),
  name text NOT NULL CHECK (octet_length(name) <= 256),
  -- Absent where they are larger.
  arguments jsonb CHECK (jsonb_typeof(arguments) = 'object' AND octet_length(arguments::text) <= 131072),
  result text NOT NULL CHECK (octet_length(result) <= 65536),
  failed boolean NOT NULL,
  began_at timestamptz(3) NOT NULL,
  duration_ms int NOT NULL CHECK (duration_ms >= 0),
  PRIMARY KEY (org, call_id, seq),
  FOREIGN KEY (org, call_id) REFERENCES parley.calls (org, id) ON DELETE CASCADE
);

GRANT SELECT, INSERT, DELETE ON parley.call_tool_calls TO parley_app;

-- What agents want to know of their calls when they are over, and what was found out.
CREATE TABLE parley.call_analyses (
  org text COLLATE "C" NOT NULL,
  call_id text COLLATE "C" NOT NULL,
  status text NOT NULL DEFAULT 'processing' CHECK (status IN ('processing', 'completed', 'failed')),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  -- While it is in process: when somebody has to see to it that it is worked on.
  due_at timestamptz(3) NOT NULL DEFAULT now(),
  finished_at timestamptz(3),
  -- In the order of the agent; each with its name, its type, its result and, where there is none, why.
  items jsonb CHECK (jsonb_typeof(items) = 'array' AND octet_length(items::text) <= 1048576),
  -- Why there is nothing at all.
  error_code text CHECK (error_code ~ '^[a-z_]{1,64}$'),
  error_message text CHECK (char_length(error_message) <= 1000),
  PRIMARY KEY (org, call_id),
  FOREIGN KEY (org, call_id) REFERENCES parley.calls (org, id) ON DELETE CASCADE,
  CHECK ((status = 'processing') = (finished_at IS NULL)),
  CHECK ((status = 'processing') = (items IS NULL)),
  CHECK ((status = 'failed') = (error_code IS NOT NULL AND error_message IS NOT NULL))
);

CREATE INDEX call_analyses_due ON parley.call_analyses (due_at) WHERE status = 'processing';

GRANT SELECT, INSERT, DELETE, UPDATE (status, due_at, finished_at, items, error_code, error_message) ON parley.call_analyses TO parley_app;

-- Those that are due are looked for across organisations.
CREATE POLICY whereabouts ON parley.call_analyses FOR SELECT TO parley_directory USING (true);
GRANT SELECT (org, call_id, status, due_at) ON parley.call_analyses TO parley_directory;

-- Whoever ends a call, and whatever dies a moment later: a call whose agent asks for something has its row from the very commit that ended it.
-- A test itself asks for the analysis that it checks.
CREATE FUNCTION parley.ask_for_analysis() RETURNS trigger
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

CREATE TRIGGER calls_are_analysed AFTER UPDATE OF status ON parley.calls FOR EACH ROW
  WHEN (OLD.status IN ('registered', 'ongoing') AND NEW.status IN ('ended', 'error'))
  EXECUTE FUNCTION parley.ask_for_analysis();

-- What calls have used of providers, and what it costs.
CREATE TABLE parley.call_usage (
  org text COLLATE "C" NOT NULL,
  call_id text COLLATE "C" NOT NULL,
  -- Who counts: the job that serves the call, an attempt at its analysis. Each writes its own totals.
  writer uuid NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('llm', 'stt', 'tts', 'embedding', 'rerank')),
  purpose text COLLATE "C" NOT NULL CHECK (purpose IN ('conversation', 'analysis')),
  provider text COLLATE "C" NOT NULL CHECK (char_length(provider) BETWEEN 1 AND 64),
  model text COLLATE "C" NOT NULL CHECK (char_length(model) <= 256),
  requests bigint NOT NULL CHECK (requests >= 0),
  -- Those whose tokens the provider did not tell.
  estimated_requests bigint NOT NULL CHECK (estimated_requests BETWEEN 0 AND requests),
  input_tokens bigint NOT NULL CHECK (input_tokens >= 0),
  cached_input_tokens bigint NOT NULL CHECK (cached_input_tokens BETWEEN 0 AND input_tokens),
  output_tokens bigint NOT NULL CHECK (output_tokens >= 0),
  reasoning_tokens bigint NOT NULL CHECK (reasoning_tokens >= 0),
  characters bigint NOT NULL CHECK (characters >= 0),
  audio_ms bigint NOT NULL CHECK (audio_ms >= 0),
  -- Millionths of the currency, with the prices of then: later prices change nothing. Absent where there was no price.
  cost_micros bigint CHECK (cost_micros >= 0),
  currency text COLLATE "C" CHECK (currency ~ '^[A-Z]{3}$'),
  price_version text COLLATE "C" CHECK (char_length(price_version) BETWEEN 1 AND 64),
  PRIMARY KEY (org, call_id, writer, kind, purpose, provider, model),
  FOREIGN KEY (org, call_id) REFERENCES parley.calls (org, id) ON DELETE CASCADE,
  CHECK ((cost_micros IS NULL) = (currency IS NULL) AND (cost_micros IS NULL) = (price_version IS NULL))
);

GRANT SELECT, INSERT, DELETE, UPDATE (requests, estimated_requests, input_tokens, cached_input_tokens, output_tokens, reasoning_tokens,
  characters, audio_ms, cost_micros, currency, price_version) ON parley.call_usage TO parley_app;

-- What agents have spent, by the quarter of an hour in which their calls were made: no time zone has a midnight between two.
-- Calls of tests do not count. It stays when calls are deleted: what was spent is spent.
CREATE TABLE parley.agent_spending (
  org text COLLATE "C" NOT NULL REFERENCES parley.organizations (name),
  agent_name text COLLATE "C" NOT NULL CHECK (char_length(agent_name) BETWEEN 1 AND 253),
  quarter timestamptz NOT NULL,
  currency text COLLATE "C" NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  micros bigint NOT NULL,
  PRIMARY KEY (org, agent_name, quarter, currency)
);

CREATE INDEX agent_spending_over ON parley.agent_spending (org, quarter);

GRANT SELECT, INSERT, DELETE, UPDATE (micros) ON parley.agent_spending TO parley_app;

-- In the transaction of the usage: the sum is right whatever dies.
CREATE FUNCTION parley.add_agent_spending() RETURNS trigger
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

CREATE TRIGGER usage_is_spent AFTER INSERT OR UPDATE ON parley.call_usage FOR EACH ROW EXECUTE FUNCTION parley.add_agent_spending();

-- Calls that are gone: what is still found of their recordings, in a spool or in the storage, is deleted as well.
CREATE TABLE parley.deleted_calls (
  org text COLLATE "C" NOT NULL REFERENCES parley.organizations (name),
  call_id text COLLATE "C" NOT NULL,
  deleted_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (org, call_id)
);

GRANT SELECT, INSERT, DELETE ON parley.deleted_calls TO parley_app;

-- Answers to the lookups of agents, for the few minutes that they may be used again: each call is a process of its own.
-- Of each organisation by itself. Worth nothing after a crash, so that it needs no log on disk.
CREATE UNLOGGED TABLE parley.dynamic_data_cache (
  org text COLLATE "C" NOT NULL REFERENCES parley.organizations (name),
  -- SHA-256 of the request, with all that is secret in it.
  key bytea NOT NULL CHECK (octet_length(key) = 32),
  -- JSON, without the secrets that were sent for it.
  answer text NOT NULL CHECK (octet_length(answer) <= 131072),
  expires_at timestamptz(3) NOT NULL,
  PRIMARY KEY (org, key)
);

CREATE INDEX dynamic_data_cache_by_age ON parley.dynamic_data_cache (org, expires_at);

GRANT SELECT, INSERT, UPDATE, DELETE ON parley.dynamic_data_cache TO parley_app;

-- How many calls each voice server can take now: what it reported, less what the api has given away since.
-- Worth nothing after a crash, so that it needs no log on disk.
CREATE UNLOGGED TABLE parley.voice_servers (
  id uuid PRIMARY KEY,
  -- LIVEKIT_AGENT_NAME: an api makes calls for the servers of its own.
  agent_name text COLLATE "C" NOT NULL CHECK (char_length(agent_name) BETWEEN 1 AND 100),
  free_places int NOT NULL CHECK (free_places >= 0),
  -- Since its last report.
  taken int NOT NULL DEFAULT 0,
  -- By organisation, since the last report: how much of `taken` is whose. Its calls may not be registered yet.
  taken_by jsonb NOT NULL DEFAULT '{}',
  -- It has fewer calls than it may have, but too many of them are beginning.
  starting boolean NOT NULL,
  reported_at timestamptz NOT NULL
) WITH (fillfactor = 50);

-- It belongs to no organisation. The table is out of everybody's reach; the functions hold no more than these numbers.
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
  ON CONFLICT (id) DO UPDATE SET free_places = greatest(0, excluded.free_places - known.taken), taken = 0, taken_by = '{}',
    starting = excluded.starting OR known.taken > 0, reported_at = excluded.reported_at
$$;

CREATE FUNCTION parley.forget_voice_server(server uuid) RETURNS void
LANGUAGE sql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ DELETE FROM parley.voice_servers WHERE id = server $$;

-- Takes a place of any server. The media server chooses which one gets the call; the sum is what counts. Once no more than a tenth is free, and at
-- least one place, an organisation gets it only if it has less than its share of all: an equal part for each that has calls, and for one that may come.
-- The rows are locked in one order, so that two never wait for each other, and each sees what the one before has left.
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

-- --- Phone numbers: whose a number is, who answers, who calls from it. Calls go on while the API server is away

-- Claimed when a number is first used, and reserved for its organisation for a while after its PhoneNumber has gone.
CREATE TABLE parley.number_claims (
  number text COLLATE "C" PRIMARY KEY CHECK (number ~ '^\+[1-9]\d{1,14}$'),
  org text COLLATE "C" NOT NULL CHECK (char_length(org) BETWEEN 1 AND 63),
  -- Of the PhoneNumber that has the number, or had it last.
  uid text COLLATE "C" NOT NULL CHECK (char_length(uid) BETWEEN 1 AND 128),
  claimed_at timestamptz(3) NOT NULL DEFAULT now(),
  -- When its PhoneNumber went: the reservation begins.
  released_at timestamptz(3),
  UNIQUE (number, org)
);

GRANT SELECT, INSERT (number, org, uid), UPDATE (released_at) ON parley.number_claims TO parley_app;

-- A number passes from one organisation to another in the functions below, and nowhere else.
CREATE POLICY passing_on ON parley.number_claims TO parley_directory USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON parley.number_claims TO parley_directory;

-- Phone numbers as calls need them.
CREATE TABLE parley.phone_routes (
  org text COLLATE "C" NOT NULL REFERENCES parley.organizations (name),
  -- Of the PhoneNumber: its uid, and its name in REST.
  uid text COLLATE "C" NOT NULL CHECK (char_length(uid) BETWEEN 1 AND 128),
  name text COLLATE "C" NOT NULL CHECK (char_length(name) BETWEEN 1 AND 253),
  -- A gateway tells the number and nothing else, so that it is one object's in the whole deployment.
  number text COLLATE "C" NOT NULL UNIQUE CHECK (number ~ '^\+[1-9]\d{1,14}$'),
  type text NOT NULL CHECK (type IN ('SIP', 'Native', 'Carrier')),
  -- By name; which revision serves is asked when a call comes.
  inbound_agent text COLLATE "C" CHECK (char_length(inbound_agent) BETWEEN 1 AND 253),
  outbound_agent text COLLATE "C" CHECK (char_length(outbound_agent) BETWEEN 1 AND 253),
  -- What the media server dials through; absent where the number can't call.
  outbound_trunk text COLLATE "C" CHECK (char_length(outbound_trunk) BETWEEN 1 AND 256),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (org, uid),
  -- Calls reach whoever has the claim.
  FOREIGN KEY (number, org) REFERENCES parley.number_claims (number, org)
);

GRANT SELECT, INSERT, DELETE, UPDATE (name, type, inbound_agent, outbound_agent, outbound_trunk, updated_at) ON parley.phone_routes TO parley_app;

-- Whose a number is has to be found before any organisation is set, and a number that another object had is taken from it.
CREATE POLICY whereabouts ON parley.phone_routes FOR SELECT TO parley_directory USING (true);
CREATE POLICY leftovers ON parley.phone_routes FOR DELETE TO parley_directory USING (true);
GRANT SELECT (org, uid, number), DELETE ON parley.phone_routes TO parley_directory;

CREATE FUNCTION parley.organization_of_number(wanted text) RETURNS text
LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ SELECT r.org FROM parley.phone_routes r WHERE r.number = wanted $$;

-- Who claims a number waits for whoever is claiming it: of two who insert the same row at once one would fail at its second unique index.
CREATE FUNCTION parley.lock_number(wanted text) RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$ SELECT pg_advisory_xact_lock(hashtextextended('parley number ' || wanted, 0)) $$;

-- True where the PhoneNumber of the organisation that is set has the number now. kept_ms: how long reservations last. assignees: who alone may have it.
CREATE FUNCTION parley.claim_number(wanted text, claimant text, kept_ms float8, assignees text[]) RETURNS boolean
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT parley.lock_number(wanted);
  WITH claimed AS (
    INSERT INTO parley.number_claims AS c (number, org, uid) VALUES (wanted, current_setting('parley.org'), claimant)
    ON CONFLICT (number) DO UPDATE SET org = excluded.org, uid = excluded.uid, released_at = NULL,
      claimed_at = CASE WHEN c.org = excluded.org THEN c.claimed_at ELSE excluded.claimed_at END
    WHERE c.org = excluded.org OR c.released_at <= now() - kept_ms * interval '1 millisecond' OR c.org <> ALL (assignees)
    RETURNING 1
  )
  SELECT count(*) > 0 FROM claimed
$$;

CREATE FUNCTION parley.claim_of_number(wanted text) RETURNS TABLE (org text, uid text, released_at timestamptz)
LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ SELECT c.org, c.uid, c.released_at FROM parley.number_claims c WHERE c.number = wanted $$;

-- The numbers of PhoneNumbers that are no longer there. within: of one organisation only.
CREATE FUNCTION parley.release_numbers(living text[], within text) RETURNS SETOF text
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  WITH gone AS (
    UPDATE parley.number_claims c SET released_at = now()
    WHERE c.released_at IS NULL AND c.uid <> ALL (living) AND (within IS NULL OR c.org = within)
    RETURNING c.number, c.org, c.uid
  ), routes AS (
    DELETE FROM parley.phone_routes r USING gone g WHERE r.org = g.org AND r.uid = g.uid
  )
  SELECT g.number FROM gone g
$$;

-- Ends a reservation. Null where there is none.
CREATE FUNCTION parley.end_reservation(wanted text) RETURNS text
LANGUAGE sql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ DELETE FROM parley.number_claims c WHERE c.number = wanted AND c.released_at IS NOT NULL RETURNING c.org $$;

-- --- Knowledge bases: what was put in (documents), what is found (chunks), and what ranking needs (term frequencies)

-- Postgres is the source of truth; vectors can be rebuilt from here.
CREATE TABLE parley.collections (
  org text COLLATE "C" NOT NULL REFERENCES parley.organizations (name),
  -- Never reused: vectors and files that are left over from a deleted collection belong to nobody.
  id text COLLATE "C" NOT NULL CHECK (id ~ '^col_[0-9a-f-]{36}$'),
  -- Of the KnowledgeBase resource.
  name text COLLATE "C" NOT NULL CHECK (char_length(name) BETWEEN 1 AND 253),
  uid text COLLATE "C" NOT NULL CHECK (char_length(uid) BETWEEN 1 AND 128),
  -- Its events are of this one.
  workspace text COLLATE "C" CHECK (char_length(workspace) BETWEEN 1 AND 253),
  profile text NOT NULL CHECK (char_length(profile) BETWEEN 1 AND 63),
  -- Vectors of two models are never mixed: neither ever changes.
  model text NOT NULL CHECK (char_length(model) <= 256),
  dimension int NOT NULL CHECK (dimension BETWEEN 0 AND 16000),
  -- The model that reranks what a search finds; NULL for none.
  rerank_profile text CHECK (char_length(rerank_profile) <= 63),
  language text NOT NULL CHECK (char_length(language) <= 35),
  max_tokens int NOT NULL CHECK (max_tokens > 0),
  overlap_tokens int NOT NULL CHECK (overlap_tokens >= 0),
  -- Of the chunks that can be found.
  chunk_count bigint NOT NULL DEFAULT 0 CHECK (chunk_count >= 0),
  term_total bigint NOT NULL DEFAULT 0 CHECK (term_total >= 0),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  -- The resource is gone and its documents are kept: a new one of the same name takes them over.
  released_at timestamptz(3),
  -- From here on nothing of it is found; the rest of it goes bit by bit.
  deleted_at timestamptz(3),
  PRIMARY KEY (org, id)
);

CREATE UNIQUE INDEX collections_by_name ON parley.collections (org, name) WHERE deleted_at IS NULL;

GRANT SELECT, INSERT, DELETE, UPDATE (uid, workspace, profile, rerank_profile, language, max_tokens, overlap_tokens, chunk_count, term_total,
  released_at, deleted_at) ON parley.collections TO parley_app;
CREATE POLICY sweeping ON parley.collections TO parley_directory USING (true);
GRANT SELECT (org, name, uid, released_at, deleted_at), UPDATE (released_at) ON parley.collections TO parley_directory;

-- As parley.retire_agents, for knowledge bases and by uid: what their deletion policy was went with them, so that the documents are kept for a later one
-- of the name.
CREATE FUNCTION parley.release_collections(living text[], within text) RETURNS TABLE (org text, name text)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  UPDATE parley.collections c SET released_at = now()
  WHERE c.released_at IS NULL AND c.deleted_at IS NULL AND c.uid <> ALL (living) AND (within IS NULL OR c.org = within)
  RETURNING c.org, c.name
$$;

CREATE TABLE parley.documents (
  org text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL CHECK (id ~ '^doc_[0-9a-f-]{36}$'),
  collection_id text COLLATE "C" NOT NULL,
  kind text NOT NULL CHECK (kind IN ('file', 'website', 'text')),
  filename text NOT NULL CHECK (char_length(filename) BETWEEN 1 AND 2048),
  -- Of a file, without the dot.
  extension text CHECK (char_length(extension) <= 16),
  -- Where the file stands in the storage.
  object_key text CHECK (char_length(object_key) <= 512),
  bytes bigint CHECK (bytes >= 0),
  sha256 text CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  -- Of a website.
  urls text[] CHECK (cardinality(urls) <= 100),
  -- Of a document whose content came with the configuration.
  content text CHECK (octet_length(content) <= 1048576),
  metadata jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(metadata) = 'object'),
  -- Of the resource's sources, the one that this document serves, and the state of it that was read.
  source text COLLATE "C" CHECK (char_length(source) <= 63),
  source_revision text COLLATE "C" CHECK (char_length(source_revision) <= 128),
  status text NOT NULL DEFAULT 'processing' CHECK (status IN ('processing', 'completed', 'failed')),
  stage text NOT NULL DEFAULT 'queued' CHECK (stage IN ('queued', 'fetching', 'parsing', 'indexing', 'verifying', 'completed')),
  done int NOT NULL DEFAULT 0 CHECK (done >= 0),
  total int CHECK (total >= 0),
  message text NOT NULL DEFAULT '' CHECK (char_length(message) <= 4096),
  error_code text CHECK (char_length(error_code) <= 64),
  title text CHECK (char_length(title) <= 1024),
  pages int,
  warnings text[] NOT NULL DEFAULT '{}',
  -- [{url, status, reason}] of a website.
  page_outcomes jsonb,
  chunk_count int NOT NULL DEFAULT 0 CHECK (chunk_count >= 0),
  term_total bigint NOT NULL DEFAULT 0 CHECK (term_total >= 0),
  -- `key:` and what the client calls the entry of a bulk upload, or `sha256:` and the hash of its content: accepted once, however often it is sent.
  -- Null for what comes one file at a time.
  submission_key text COLLATE "C" CHECK (char_length(submission_key) <= 256),
  created_by text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  -- When it last got anywhere.
  progress_at timestamptz(3) NOT NULL DEFAULT now(),
  -- Nothing of it is found from here on, whatever the vector store still holds.
  deleted_at timestamptz(3),
  PRIMARY KEY (org, id),
  FOREIGN KEY (org, collection_id) REFERENCES parley.collections (org, id)
);

CREATE INDEX documents_of_collection ON parley.documents (org, collection_id, created_at, id);
CREATE INDEX documents_unfinished ON parley.documents (org, collection_id) WHERE status <> 'completed' OR deleted_at IS NOT NULL;
CREATE UNIQUE INDEX documents_by_source ON parley.documents (org, collection_id, source, source_revision)
  WHERE source IS NOT NULL AND deleted_at IS NULL;
-- What has failed may be sent again, as may what was deleted.
CREATE UNIQUE INDEX documents_by_submission ON parley.documents (org, collection_id, submission_key)
  WHERE submission_key IS NOT NULL AND deleted_at IS NULL AND status <> 'failed';
-- For content that came one file at a time.
CREATE INDEX documents_by_content ON parley.documents (org, collection_id, sha256)
  WHERE sha256 IS NOT NULL AND deleted_at IS NULL AND status <> 'failed';

GRANT SELECT, INSERT, DELETE, UPDATE (object_key, bytes, sha256, status, stage, done, total, message, error_code, title, pages, warnings, page_outcomes,
  chunk_count, term_total, updated_at, progress_at, deleted_at) ON parley.documents TO parley_app;

CREATE TABLE parley.chunks (
  org text COLLATE "C" NOT NULL,
  document_id text COLLATE "C" NOT NULL,
  ordinal int NOT NULL CHECK (ordinal >= 0),
  -- What is shown.
  text text NOT NULL,
  -- What is embedded and ranked.
  indexed_text text NOT NULL,
  tokens int NOT NULL,
  heading_path text[] NOT NULL DEFAULT '{}',
  page int,
  sheet text,
  url text,
  first_row int,
  last_row int,
  PRIMARY KEY (org, document_id, ordinal),
  FOREIGN KEY (org, document_id) REFERENCES parley.documents (org, id) ON DELETE CASCADE
);

-- In how many of a document's chunks each term is: what it adds to its collection's frequencies, and takes away again.
CREATE TABLE parley.document_terms (
  org text COLLATE "C" NOT NULL,
  document_id text COLLATE "C" NOT NULL,
  terms int[] NOT NULL,
  chunks int[] NOT NULL CHECK (cardinality(chunks) = cardinality(terms)),
  -- How many, from the first on, are among the collection's frequencies: a million are counted in slices, for each of which other changes of the
  -- collection wait.
  counted int NOT NULL DEFAULT 0 CHECK (counted BETWEEN 0 AND cardinality(terms)),
  PRIMARY KEY (org, document_id),
  FOREIGN KEY (org, document_id) REFERENCES parley.documents (org, id) ON DELETE CASCADE
);

-- In how many of a collection's findable chunks a term is.
CREATE TABLE parley.term_frequencies (
  org text COLLATE "C" NOT NULL,
  collection_id text COLLATE "C" NOT NULL,
  term int NOT NULL,
  chunks int NOT NULL,
  PRIMARY KEY (org, collection_id, term)
) WITH (fillfactor = 80);

-- Vectors that were paid for once. Of each organisation by itself: that a text was embedded before tells something of its owner.
CREATE TABLE parley.embedding_cache (
  org text COLLATE "C" NOT NULL REFERENCES parley.organizations (name),
  key bytea NOT NULL CHECK (octet_length(key) = 32),
  vector bytea NOT NULL,
  used_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (org, key)
);

CREATE INDEX embedding_cache_by_use ON parley.embedding_cache (org, used_at);

GRANT SELECT, INSERT, UPDATE, DELETE ON parley.chunks, parley.document_terms, parley.term_frequencies, parley.embedding_cache TO parley_app;

-- --- Where chunks are ranked: an inverted index for words (BM25), and tables of dense vectors made on demand, one for each dimension

-- Everything here can be rebuilt from the section above. Nothing refers to it: another store may keep the vectors in its place.

DO $$
DECLARE
  offered text;
BEGIN
  IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'vector') THEN
    SELECT default_version INTO offered FROM pg_available_extensions WHERE name = 'vector';
    IF offered IS NULL THEN
      RAISE EXCEPTION 'this Postgres has no pgvector: install pgvector 0.7 or newer on the server (packages are named like postgresql-18-pgvector), then run `parley migrate` again'
        USING ERRCODE = 'feature_not_supported';
    END IF;
    BEGIN
      CREATE EXTENSION vector;
    EXCEPTION WHEN insufficient_privilege THEN
      RAISE EXCEPTION 'the user in DATABASE_URL may not add pgvector: let a superuser run `CREATE EXTENSION vector` in the database %, then run `parley migrate` again', current_database()
        USING ERRCODE = 'insufficient_privilege';
    END;
  END IF;
  -- halfvec, which keeps long vectors, came with 0.7.
  SELECT extversion INTO offered FROM pg_extension WHERE extname = 'vector';
  IF (string_to_array(offered, '.'))[1:2]::int[] < ARRAY[0, 7] THEN
    RAISE EXCEPTION 'this database has pgvector %, and 0.7 or newer is needed: install it on the server, let the owner of the extension run `ALTER EXTENSION vector UPDATE`, then run `parley migrate` again', offered
      USING ERRCODE = 'feature_not_supported';
  END IF;
END
$$;

CREATE TABLE parley.vector_collections (
  org text COLLATE "C" NOT NULL CHECK (org ~ '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$'),
  collection_id text COLLATE "C" NOT NULL CHECK (char_length(collection_id) BETWEEN 1 AND 128),
  -- Chunks are numbered from 0; a number is never given twice. Whoever writes holds this row.
  next_number int NOT NULL DEFAULT 0 CHECK (next_number >= 0),
  -- The table with the graph of its dense vectors, once it is large.
  graph text CHECK (graph ~ '^vector_graph_[0-9a-f]{32}$'),
  PRIMARY KEY (org, collection_id)
);

CREATE TABLE parley.vector_chunks (
  org text COLLATE "C" NOT NULL,
  collection_id text COLLATE "C" NOT NULL,
  number int NOT NULL,
  chunk_id text COLLATE "C" NOT NULL CHECK (char_length(chunk_id) BETWEEN 1 AND 256),
  document_id text COLLATE "C" NOT NULL CHECK (char_length(document_id) BETWEEN 1 AND 128),
  ordinal int NOT NULL CHECK (ordinal >= 0),
  metadata jsonb NOT NULL CHECK (jsonb_typeof(metadata) = 'object'),
  -- Decides between chunks with equal scores: made of the document's content, where ids differ each time a document is added.
  tie_breaker bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (org, collection_id, number)
);

CREATE UNIQUE INDEX vector_chunks_by_id ON parley.vector_chunks (chunk_id, collection_id, org);
-- No index but the primary key is to match a collection alone: see parley.analyze_vectors. Queries by document say `document_id <> ''`, and no others can use this one.
CREATE INDEX vector_chunks_of_document ON parley.vector_chunks (org, collection_id, document_id) WHERE document_id <> '';

-- Which chunks have a term. A row has up to 1,024 entries, of chunks whose numbers ascend from its block (of 1,024 numbers) on and share all but their lower
-- 16 bits. Each entry is four bytes, little-endian: weight · 1,024 in the lower half, the number's lower 16 bits in the upper. Terms of words are above
-- 0, what filters ask for below; term 0 is in every chunk. Entries of a chunk that is gone stay behind until half of their block is gone; its number
-- finds nothing.
CREATE TABLE parley.vector_postings (
  org text COLLATE "C" NOT NULL,
  collection_id text COLLATE "C" NOT NULL,
  term int NOT NULL,
  block int NOT NULL,
  -- 4 KiB at most: never moved out of the row.
  entries bytea STORAGE PLAIN NOT NULL CHECK (octet_length(entries) BETWEEN 4 AND 4096),
  PRIMARY KEY (org, collection_id, term, block)
);

CREATE INDEX vector_postings_of_block ON parley.vector_postings (block, collection_id, org);

GRANT SELECT, INSERT, DELETE, UPDATE (next_number, graph) ON parley.vector_collections TO parley_app;
GRANT SELECT, INSERT, DELETE ON parley.vector_chunks TO parley_app;
GRANT SELECT, INSERT, DELETE, UPDATE (entries) ON parley.vector_postings TO parley_app;

-- What a filter can ask of a chunk, as terms below 0: a hash for each field with its value. Two values may share one, so that whoever uses it compares the
-- metadata, too.
CREATE FUNCTION parley.filter_terms(metadata jsonb) RETURNS int[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
  SELECT coalesce(array_agg(DISTINCT -1 - ((get_byte(digest, 0) & 127) << 24 | get_byte(digest, 1) << 16 | get_byte(digest, 2) << 8 | get_byte(digest, 3))), '{}')
  FROM (SELECT sha256(convert_to(key || ':' || value::text, 'UTF8')) AS digest FROM jsonb_each(metadata)) AS field
$$;

-- Makes a table of dense vectors where it is missing, with everything that row-level security asks for. Tables belong to whoever migrates.
CREATE FUNCTION parley.make_dense_table(name text, dimension int) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  home text;
BEGIN
  IF dimension NOT BETWEEN 1 AND 16000 THEN
    RAISE EXCEPTION 'a vector has 1 to 16000 dimensions, not %', dimension USING ERRCODE = 'numeric_value_out_of_range';
  END IF;
  IF to_regclass('parley.' || name) IS NOT NULL THEN RETURN; END IF;
  PERFORM pg_advisory_xact_lock(hashtext('parley.' || name));
  -- Asked of the table itself: what the cache knows, which to_regclass asks, may be from before the lock.
  IF EXISTS (SELECT FROM pg_class WHERE relnamespace = 'parley'::regnamespace AND relname = name) THEN RETURN; END IF;
  SELECT nspname INTO STRICT home FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'vector';
  EXECUTE format(
    'CREATE TABLE parley.%I (
       org text COLLATE "C" NOT NULL,
       collection_id text COLLATE "C" NOT NULL,
       number int NOT NULL,
       embedding %I.%I(%s) NOT NULL,
       PRIMARY KEY (org, collection_id, number)
     ) WITH (toast_tuple_target = 8160)',
    -- Above 2,000 dimensions a vector has no index, and hardly fits into a page. Graphs are made of half-precision numbers, which hold our whole ones up
    -- to 2,048 exactly.
    name, home, CASE WHEN dimension > 2000 OR name LIKE 'vector\_graph\_%' THEN 'halfvec' ELSE 'vector' END, dimension);
  EXECUTE format('ALTER TABLE parley.%I ENABLE ROW LEVEL SECURITY', name);
  EXECUTE format('ALTER TABLE parley.%I FORCE ROW LEVEL SECURITY', name);
  EXECUTE format(
    'CREATE POLICY own_organization ON parley.%I TO parley_app
       USING (org = current_setting(''parley.org'', true)) WITH CHECK (org = current_setting(''parley.org'', true))', name);
  EXECUTE format('GRANT SELECT, INSERT, DELETE ON parley.%I TO parley_app', name);
END
$$;

-- The table for all collections of one dimension: compared one by one, exactly.
CREATE FUNCTION parley.prepare_dense_vectors(dimension int) RETURNS void
LANGUAGE sql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ SELECT parley.make_dense_table('vector_dense_' || dimension, dimension) $$;

-- The table for one large collection of the current organisation, with its graph (HNSW), which is made while it is empty: a graph never has to be built
-- over rows that are in use, and what other organisations have can't stand in its way.
-- Vectors that a filter leaves are looked up by number. The table is of one collection, and its key begins with two texts that are the same in every row:
-- three times as many pages would be read, and the texts compared for each of them.
CREATE FUNCTION parley.make_vector_graph(collection text, dimension int) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  own text := nullif(current_setting('parley.org', true), '');
  name text := 'vector_graph_' || left(encode(sha256(convert_to(own || '/' || collection, 'UTF8')), 'hex'), 32);
  home text;
BEGIN
  IF own IS NULL OR dimension > 4000 THEN
    RAISE EXCEPTION 'a graph is of one organisation, and of 4000 dimensions at most' USING ERRCODE = 'numeric_value_out_of_range';
  END IF;
  PERFORM parley.make_dense_table(name, dimension);
  SELECT nspname INTO STRICT home FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'vector';
  EXECUTE format('CREATE INDEX IF NOT EXISTS %I ON parley.%I USING hnsw (embedding %I.halfvec_ip_ops)', name || '_hnsw', name, home);
  EXECUTE format('CREATE INDEX IF NOT EXISTS %I ON parley.%I (number)', name || '_number', name);
  RETURN name;
END
$$;

CREATE FUNCTION parley.drop_vector_graph(collection text) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  EXECUTE format('DROP TABLE IF EXISTS parley.%I',
    'vector_graph_' || left(encode(sha256(convert_to(current_setting('parley.org') || '/' || collection, 'UTF8')), 'hex'), 32));
END
$$;

-- Takes statistics of the tables that have none, or have since doubled. Autovacuum does that too, a minute later; up to then the planner thinks that
-- a collection has one row, so that any index that begins with it looks as good as the right one. Of two callers one does the work.
CREATE FUNCTION parley.analyze_vectors() RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  name text;
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtext('parley.analyze_vectors')) THEN RETURN; END IF;
  FOR name IN
    SELECT relname FROM pg_class
    WHERE relnamespace = 'parley'::regnamespace AND relkind = 'r' AND relname LIKE 'vector\_%'
      AND (reltuples < 0 OR pg_relation_size(oid) > 2 * relpages * current_setting('block_size')::bigint)
  LOOP
    EXECUTE format('ANALYZE (SKIP_LOCKED) parley.%I', name);
  END LOOP;
END
$$;

-- --- Events and their deliveries

-- An event is written with the change it tells of; what is to be done about it stands in the outbox until it is relayed, and from then on in a delivery
-- for each subscription that gets it.
-- Ids are times: an event's is a UUIDv7, and a delivery's begins with the same 48 bits. Tables are cut by ranges of ids, so that old rows go by the table.

CREATE TABLE parley.events (
  id uuid PRIMARY KEY,
  org text COLLATE "C" NOT NULL CHECK (char_length(org) BETWEEN 1 AND 63),
  name text COLLATE "C" NOT NULL CHECK (char_length(name) BETWEEN 1 AND 128),
  -- What subscriptions choose by: names of resources, workspaces by their label.
  agent text COLLATE "C" CHECK (char_length(agent) BETWEEN 1 AND 253),
  workspace text COLLATE "C" CHECK (char_length(workspace) BETWEEN 1 AND 253),
  -- For one subscription alone, or for all but one.
  only_subscription text COLLATE "C" CHECK (char_length(only_subscription) BETWEEN 1 AND 128),
  except_subscription text COLLATE "C" CHECK (char_length(except_subscription) BETWEEN 1 AND 128),
  -- Of an event of a call: its body loses what it says of the call's content when the call is deleted.
  call_id text COLLATE "C" CHECK (char_length(call_id) BETWEEN 1 AND 128),
  created_at timestamptz(3) NOT NULL DEFAULT now()
) PARTITION BY RANGE (id);

CREATE INDEX events_of_call ON parley.events (call_id) WHERE call_id IS NOT NULL;

-- The bytes that are signed and sent, once for all subscriptions. Kept for a shorter time than what became of them.
CREATE TABLE parley.event_bodies (
  id uuid PRIMARY KEY,
  org text COLLATE "C" NOT NULL,
  body bytea NOT NULL CHECK (octet_length(body) <= 1048576),
  -- In the course of which trace the event came to be. With the body: whoever sends the one reads the other, and neither is needed for longer.
  traceparent text COLLATE "C" CHECK (char_length(traceparent) = 55)
) PARTITION BY RANGE (id);

-- A row for each event that isn't relayed yet. Never large unless nobody relays; vacuumed often, because every row of it dies young.
CREATE TABLE parley.outbox (
  event_id uuid PRIMARY KEY,
  org text COLLATE "C" NOT NULL,
  -- Events of one kind (of the same organisation, of the same name, about the same) share a lane: where very many of one kind wait, the relay takes a few
  -- of each lane, so that those of other kinds don't wait behind them.
  lane smallint NOT NULL DEFAULT 0 CHECK (lane BETWEEN 0 AND 255),
  due_at timestamptz NOT NULL DEFAULT now()
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_insert_threshold = -1);

CREATE INDEX outbox_due ON parley.outbox (due_at);
CREATE INDEX outbox_lanes ON parley.outbox (lane, due_at);

CREATE TABLE parley.deliveries (
  -- Follows from the event and the subscription: the same one can't be made twice.
  id uuid PRIMARY KEY,
  org text COLLATE "C" NOT NULL,
  event_id uuid NOT NULL,
  event_name text COLLATE "C" NOT NULL,
  -- Of the WebhookSubscription, or of the Agent with an address of its own.
  subscription_uid text COLLATE "C" NOT NULL CHECK (char_length(subscription_uid) BETWEEN 1 AND 128),
  state text COLLATE "C" NOT NULL CHECK (state IN ('pending', 'retry_pending', 'retrying', 'paused', 'succeeded', 'failed', 'skipped')),
  reason text COLLATE "C" CHECK (char_length(reason) <= 64),
  -- Rows of delivery_attempts.
  attempts int NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  -- Attempts before the present series: a delivery that is sent anew has its full number of retries again.
  series_start int NOT NULL DEFAULT 0 CHECK (series_start BETWEEN 0 AND attempts),
  -- When there is something to do for it; while somebody is at it, when somebody else may take it.
  due_at timestamptz,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  ended_at timestamptz(3),
  CHECK ((ended_at IS NOT NULL) = (state IN ('succeeded', 'failed', 'skipped')))
) PARTITION BY RANGE (id);

CREATE INDEX deliveries_of_subscription ON parley.deliveries (subscription_uid, id);
CREATE INDEX deliveries_due ON parley.deliveries (subscription_uid, due_at) WHERE state = 'pending';
CREATE INDEX deliveries_retries ON parley.deliveries (due_at) WHERE state IN ('retry_pending', 'retrying');
CREATE INDEX deliveries_by_state ON parley.deliveries (subscription_uid, state, id) WHERE state NOT IN ('pending', 'succeeded');
-- Retries that wait for a dispatcher: few, unless an endpoint is left alone. They go before what hasn't been tried yet.
CREATE INDEX deliveries_retried ON parley.deliveries (subscription_uid, due_at) WHERE state = 'pending' AND attempts > series_start;

CREATE TABLE parley.delivery_attempts (
  delivery_id uuid NOT NULL,
  number int NOT NULL CHECK (number > 0),
  org text COLLATE "C" NOT NULL,
  subscription_uid text COLLATE "C" NOT NULL,
  started_at timestamptz(3) NOT NULL,
  duration_ms int NOT NULL CHECK (duration_ms >= 0),
  succeeded boolean NOT NULL,
  reason text COLLATE "C" NOT NULL CHECK (char_length(reason) <= 64),
  status_code int CHECK (status_code BETWEEN 100 AND 999),
  message text NOT NULL DEFAULT '' CHECK (char_length(message) <= 1024),
  PRIMARY KEY (delivery_id, number)
) PARTITION BY RANGE (delivery_id);

CREATE INDEX delivery_attempts_of_subscription ON parley.delivery_attempts (subscription_uid, started_at);

-- What is known of an address that events are sent to. The truth; the resource's status is a copy.
CREATE TABLE parley.webhook_endpoints (
  subscription_uid text COLLATE "C" PRIMARY KEY CHECK (char_length(subscription_uid) BETWEEN 1 AND 128),
  org text COLLATE "C" NOT NULL,
  breaker text NOT NULL DEFAULT 'closed' CHECK (breaker IN ('closed', 'open', 'half_open')),
  -- While open: when the next delivery is tried.
  probe_at timestamptz,
  -- How often it has opened, or a probe has failed, since it was last closed.
  opened int NOT NULL DEFAULT 0 CHECK (opened >= 0),
  -- While half open: how many may go out in this step, and how many of them still may.
  ramp int NOT NULL DEFAULT 0 CHECK (ramp >= 0),
  ramp_left int NOT NULL DEFAULT 0 CHECK (ramp_left >= 0),
  last_success_at timestamptz(3),
  last_failure_at timestamptz(3),
  consecutive_failures int NOT NULL DEFAULT 0 CHECK (consecutive_failures >= 0),
  -- Of the first failure since the last success.
  failing_since timestamptz(3),
  -- In how many different spans of 12 hours there were failures since then, and the last of these spans, counted from the epoch.
  failure_slots int NOT NULL DEFAULT 0 CHECK (failure_slots >= 0),
  last_failure_slot int,
  disabled_at timestamptz(3),
  disabled_reason text CHECK (char_length(disabled_reason) <= 256),
  -- The resource as it was then: a later one is enabled again.
  disabled_generation bigint,
  -- Raised with every change of the breaker and of the disabling: whoever decides does so on what still holds.
  version bigint NOT NULL DEFAULT 0,
  changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- When the resource's status was last written, and of which version.
  status_written_at timestamptz,
  status_written_version bigint
) WITH (fillfactor = 70);

-- What a write of a subscription came to, written before it is answered: a relay that hasn't seen as much yet waits.
CREATE TABLE parley.webhook_watermarks (
  org text COLLATE "C" PRIMARY KEY CHECK (char_length(org) BETWEEN 1 AND 63),
  subscriptions_version text COLLATE "C" CHECK (subscriptions_version ~ '^[0-9]{1,40}$'),
  secrets_version text COLLATE "C" CHECK (secrets_version ~ '^[0-9]{1,40}$'),
  at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 70);

-- Which uid the subscription (or agent) of a name had when it was last seen. A resource that is brought back from a backup, or into another cluster, has
-- its name and another uid: what was to be sent to it, and what was sent, is found under the old one.
CREATE TABLE parley.webhook_names (
  org text COLLATE "C" NOT NULL CHECK (char_length(org) BETWEEN 1 AND 63),
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('WebhookSubscription', 'Agent')),
  name text COLLATE "C" NOT NULL CHECK (char_length(name) BETWEEN 1 AND 253),
  subscription_uid text COLLATE "C" NOT NULL CHECK (char_length(subscription_uid) BETWEEN 1 AND 128),
  PRIMARY KEY (org, kind, name)
);

CREATE INDEX webhook_names_by_uid ON parley.webhook_names (subscription_uid);

GRANT SELECT, INSERT ON parley.events TO parley_app;
GRANT SELECT, INSERT, UPDATE (only_subscription, except_subscription) ON parley.events TO parley_dispatcher;
GRANT SELECT, INSERT, UPDATE (body) ON parley.event_bodies TO parley_app;
GRANT SELECT, INSERT ON parley.event_bodies TO parley_dispatcher;
GRANT SELECT, INSERT ON parley.outbox TO parley_app;
GRANT SELECT, INSERT, UPDATE (due_at), DELETE ON parley.outbox TO parley_dispatcher;
GRANT SELECT, UPDATE (state, reason, series_start, due_at, ended_at) ON parley.deliveries TO parley_app;
GRANT SELECT, INSERT, UPDATE (state, reason, attempts, series_start, due_at, ended_at, subscription_uid) ON parley.deliveries TO parley_dispatcher;
GRANT SELECT ON parley.delivery_attempts TO parley_app;
GRANT SELECT, INSERT, UPDATE (subscription_uid) ON parley.delivery_attempts TO parley_dispatcher;
GRANT SELECT, INSERT, UPDATE, DELETE ON parley.webhook_endpoints TO parley_app, parley_dispatcher;
GRANT SELECT, INSERT, UPDATE ON parley.webhook_watermarks TO parley_app;
GRANT SELECT ON parley.webhook_watermarks TO parley_dispatcher;
GRANT SELECT, INSERT, UPDATE (subscription_uid), DELETE ON parley.webhook_names TO parley_dispatcher;

-- The smallest id of a moment, of events and of deliveries. Moments that no id can tell are the nearest that one can.
CREATE FUNCTION parley.uuid_at(moment timestamptz) RETURNS uuid
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
  SELECT (lpad(to_hex(greatest(0, least(floor(extract(epoch FROM moment) * 1000), 281474976710655))::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- Makes the tables of the weeks and days to come, and drops those whose rows are all older than what is kept. What fits nowhere is in the
-- default partitions, from where it is moved or deleted. Nobody waits long for its locks: what it can't get soon is left for the next time.
CREATE FUNCTION parley.maintain_event_partitions(keep_rows interval, keep_bodies interval)
RETURNS TABLE (made int, dropped int, deleted bigint, postponed int)
LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '1s' SET timezone = 'UTC'
AS $$
DECLARE
  plan record;
  child record;
  begins timestamptz;
  part text;
  lower_id uuid;
  upper_id uuid;
  gone bigint;
BEGIN
  made := 0; dropped := 0; deleted := 0; postponed := 0;
  IF NOT pg_try_advisory_xact_lock(hashtext('parley.maintain_event_partitions')) THEN
    postponed := 1;
    RETURN NEXT;
    RETURN;
  END IF;
  FOR plan IN
    -- A mistake in a setting can't delete what is on its way.
    SELECT t.name, t.width, t.ahead, now() - greatest(t.keep, interval '1 day') AS oldest
    FROM (VALUES
      ('events', interval '7 days', 5, keep_rows),
      ('deliveries', interval '7 days', 5, keep_rows),
      ('delivery_attempts', interval '7 days', 5, keep_rows),
      ('event_bodies', interval '1 day', 15, keep_bodies)) AS t (name, width, ahead, keep)
  LOOP
    FOR child IN
      SELECT c.relname AS name, to_date(right(c.relname, 8), 'YYYYMMDD')::timestamptz + plan.width AS ends
      FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
      WHERE i.inhparent = format('parley.%I', plan.name)::regclass AND c.relname ~ ('^' || plan.name || '_p[0-9]{8}$') ORDER BY 1
    LOOP
      CONTINUE WHEN child.ends > plan.oldest;
      BEGIN
        EXECUTE format('DROP TABLE parley.%I', child.name);
        dropped := dropped + 1;
      EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
        postponed := postponed + 1;
      END;
    END LOOP;

    BEGIN
      EXECUTE format('DELETE FROM parley.%I WHERE %I < parley.uuid_at($1)',
        plan.name || '_default', CASE plan.name WHEN 'delivery_attempts' THEN 'delivery_id' ELSE 'id' END) USING plan.oldest;
      GET DIAGNOSTICS gone = ROW_COUNT;
      deleted := deleted + gone;
    EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
      postponed := postponed + 1;
    END;

    FOR step IN 0..plan.ahead LOOP
      begins := date_bin(plan.width, now() + step * plan.width, timestamptz '2024-01-01 00:00:00+00');
      part := plan.name || '_p' || to_char(begins, 'YYYYMMDD');
      CONTINUE WHEN to_regclass(format('parley.%I', part)) IS NOT NULL;
      lower_id := parley.uuid_at(begins);
      upper_id := parley.uuid_at(begins + plan.width);
      BEGIN
        -- Attached and not made in place: that would lock the whole table against everybody.
        EXECUTE format('CREATE TABLE parley.%I (LIKE parley.%I INCLUDING ALL)', part, plan.name);
        EXECUTE format('ALTER TABLE parley.%I ENABLE ROW LEVEL SECURITY', part);
        EXECUTE format('WITH moved AS (DELETE FROM parley.%I WHERE %I >= $1 AND %2$I < $2 RETURNING *) INSERT INTO parley.%3$I SELECT * FROM moved',
          plan.name || '_default', CASE plan.name WHEN 'delivery_attempts' THEN 'delivery_id' ELSE 'id' END, part) USING lower_id, upper_id;
        EXECUTE format('ALTER TABLE parley.%I ATTACH PARTITION parley.%I FOR VALUES FROM (%L) TO (%L)', plan.name, part, lower_id, upper_id);
        EXECUTE format('ALTER TABLE parley.%I FORCE ROW LEVEL SECURITY', part);
        made := made + 1;
      -- Somebody wrote another row of that time meanwhile, or holds what is needed.
      EXCEPTION WHEN lock_not_available OR deadlock_detected OR check_violation THEN
        postponed := postponed + 1;
      END;
    END LOOP;
  END LOOP;
  RETURN NEXT;
END
$$;

-- Partitions are reached through their table alone; the owner moves rows out of the default ones.
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['events', 'event_bodies', 'deliveries', 'delivery_attempts'] LOOP
    EXECUTE format('CREATE TABLE parley.%I PARTITION OF parley.%I DEFAULT', name || '_default', name);
    EXECUTE format('CREATE POLICY maintenance ON parley.%I TO CURRENT_USER USING (true) WITH CHECK (true)', name || '_default');
  END LOOP;
END
$$;

-- --- What holds for all

-- Every table is held by row-level security, its owner included. What has an organisation is its own, and leaves with it: no role of the platform may
-- delete all of an organisation's rows, events for one; the owner of the tables may, those of the organisation that the transaction names.
DO $$
DECLARE
  tenant record;
BEGIN
  FOR tenant IN
    SELECT c.relname AS name, c.relispartition AS partition,
      (SELECT attname FROM pg_attribute WHERE attrelid = c.oid AND attname = CASE c.relname WHEN 'organizations' THEN 'name' ELSE 'org' END) AS org
    FROM pg_class c
    WHERE c.relnamespace = 'parley'::regnamespace AND c.relkind IN ('r', 'p') AND c.relname <> 'schema_migrations'
  LOOP
    EXECUTE format('ALTER TABLE parley.%I ENABLE ROW LEVEL SECURITY', tenant.name);
    EXECUTE format('ALTER TABLE parley.%I FORCE ROW LEVEL SECURITY', tenant.name);
    CONTINUE WHEN tenant.partition OR tenant.org IS NULL;
    EXECUTE format('CREATE POLICY own_organization ON parley.%I TO parley_app USING (%I = current_setting(''parley.org'', true)) WITH CHECK (%2$I = current_setting(''parley.org'', true))',
      tenant.name, tenant.org);
    EXECUTE format('CREATE POLICY leaving ON parley.%I TO CURRENT_USER USING (%I = current_setting(''parley.leaving'', true))', tenant.name, tenant.org);
  END LOOP;
END
$$;

-- What all organisations have to send is sent by parley_dispatcher, which sees nothing else of them.
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['events', 'event_bodies', 'outbox', 'deliveries', 'delivery_attempts', 'webhook_endpoints', 'webhook_watermarks', 'webhook_names'] LOOP
    EXECUTE format('CREATE POLICY delivering ON parley.%I TO parley_dispatcher USING (true) WITH CHECK (true)', name);
  END LOOP;
END
$$;

-- Functions are nobody's but those that are named here. Those that pass from one organisation to another run as parley_directory, to which a function
-- changes hands only if it may create in the schema.
GRANT CREATE ON SCHEMA parley TO parley_directory;
DO $$
DECLARE
  signature text;
BEGIN
  -- Where the user is called parley, too, pgvector's are in the same schema.
  FOR signature IN
    SELECT p.oid::regprocedure FROM pg_proc p
    WHERE p.pronamespace = 'parley'::regnamespace AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
  LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', signature);
  END LOOP;
  FOREACH signature IN ARRAY ARRAY[
    'find_api_key(text)', 'exchange_rate_limits(text[], float8[], float8[])', 'forget_full_rate_limits()', 'signing_secret()', 'retire_agents(text[], text)',
    'organization_of_call(text)', 'call_of_room(text)', 'report_voice_server(uuid, text, int, boolean)', 'forget_voice_server(uuid)',
    'take_voice_place(text, float8, text)', 'organization_of_number(text)', 'claim_number(text, text, float8, text[])', 'claim_of_number(text)',
    'release_numbers(text[], text)', 'end_reservation(text)', 'release_collections(text[], text)'
  ] LOOP
    EXECUTE format('GRANT EXECUTE ON FUNCTION parley.%s TO parley_app', signature);
    EXECUTE format('ALTER FUNCTION parley.%s OWNER TO parley_directory', signature);
  END LOOP;
END
$$;
REVOKE CREATE ON SCHEMA parley FROM parley_directory;

GRANT EXECUTE ON FUNCTION parley.lock_number(text) TO parley_app, parley_directory;
GRANT EXECUTE ON FUNCTION parley.filter_terms(jsonb), parley.prepare_dense_vectors(int), parley.make_vector_graph(text, int), parley.drop_vector_graph(text),
  parley.analyze_vectors() TO parley_app;
GRANT EXECUTE ON FUNCTION parley.uuid_at(timestamptz), parley.maintain_event_partitions(interval, interval) TO parley_app, parley_dispatcher;

SELECT parley.maintain_event_partitions('100 years', '100 years');
