-- What is taken out of what is stored of calls, and the erasure of all that is known of one person.

-- How many values were taken out, by kind: {"card": 2}. Never a value.
ALTER TABLE parley.calls ADD COLUMN redactions jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(redactions) = 'object');

GRANT UPDATE (redactions) ON parley.calls TO parley_app;

-- Which calls an answer is about. It is encrypted for its API key: without these it could not be found when a person is erased.
ALTER TABLE parley.idempotent_requests ADD COLUMN call_ids text[] COLLATE "C" NOT NULL DEFAULT '{}' CHECK (cardinality(call_ids) <= 1000);

-- The erasure of all that is known of one person, and what was erased.
CREATE TABLE parley.erasures (
  org text COLLATE "C" NOT NULL REFERENCES parley.organizations (name),
  id text COLLATE "C" NOT NULL CHECK (id ~ '^erasure_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'),
  state text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'finished')),
  -- Whose calls: gone with them.
  phone text COLLATE "C" CHECK (char_length(phone) BETWEEN 1 AND 256),
  metadata_key text COLLATE "C" CHECK (char_length(metadata_key) BETWEEN 1 AND 200),
  metadata_value text COLLATE "C" CHECK (char_length(metadata_value) BETWEEN 1 AND 1000),
  -- What was erased so far: {"calls": 2}. Never a value.
  counts jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(counts) = 'object'),
  -- Calls that are not over.
  waiting_calls int NOT NULL DEFAULT 0 CHECK (waiting_calls >= 0),
  requested_by text CHECK (char_length(requested_by) <= 256),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  -- While it runs: when a worker sees to it, or sees to it again.
  due_at timestamptz(3) NOT NULL DEFAULT now(),
  finished_at timestamptz(3),
  PRIMARY KEY (org, id),
  CHECK ((state = 'finished') = (finished_at IS NOT NULL)),
  CHECK ((metadata_key IS NULL) = (metadata_value IS NULL)),
  CHECK (num_nonnulls(phone, metadata_key) = CASE state WHEN 'running' THEN 1 ELSE 0 END)
);

CREATE INDEX erasures_due ON parley.erasures (due_at) WHERE state = 'running';

GRANT SELECT, INSERT, DELETE, UPDATE (state, phone, metadata_key, metadata_value, counts, waiting_calls, due_at, finished_at)
  ON parley.erasures TO parley_app;

-- What endpoints have answered to an event may repeat what was in it.
GRANT UPDATE (message) ON parley.delivery_attempts TO parley_app;

ALTER TABLE parley.erasures ENABLE ROW LEVEL SECURITY;
ALTER TABLE parley.erasures FORCE ROW LEVEL SECURITY;
CREATE POLICY own_organization ON parley.erasures TO parley_app
  USING (org = current_setting('parley.org', true)) WITH CHECK (org = current_setting('parley.org', true));
CREATE POLICY leaving ON parley.erasures TO CURRENT_USER USING (org = current_setting('parley.leaving', true));
-- Those that are due are looked for across organisations.
CREATE POLICY whereabouts ON parley.erasures FOR SELECT TO parley_directory USING (true);
GRANT SELECT (org, id, state, due_at) ON parley.erasures TO parley_directory;
