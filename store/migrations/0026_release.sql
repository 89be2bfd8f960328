-- How revisions come into service: for a part of the new calls first, with a record of each change, and back again.

ALTER TABLE parley.agent_serving
  -- Counts the changes: who decided on a former state decides again.
  ADD COLUMN version int NOT NULL DEFAULT 0,
  -- What the spec asked for when the revision came into service, apart from the versions of Secrets. Null where a former version wrote the row.
  ADD COLUMN config_hash text COLLATE "C" CHECK (char_length(config_hash) <= 64),
  ADD COLUMN canary_revision text COLLATE "C",
  ADD COLUMN canary_config_hash text COLLATE "C" CHECK (char_length(canary_config_hash) <= 64),
  ADD COLUMN canary_percent int CHECK (canary_percent BETWEEN 1 AND 99),
  ADD COLUMN canary_since timestamptz(3),
  -- Revisions that are not served again by themselves, the latest last: [{revision, configHash, aborted, reason, by, at}].
  ADD COLUMN rolled_back jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(rolled_back) = 'array'),
  ADD CHECK (num_nulls(canary_revision, canary_config_hash, canary_percent, canary_since) IN (0, 4)),
  ADD FOREIGN KEY (org, agent_uid, canary_revision) REFERENCES parley.agent_revisions (org, agent_uid, revision);

GRANT UPDATE (version, config_hash, canary_revision, canary_config_hash, canary_percent, canary_since, rolled_back) ON parley.agent_serving TO parley_app;

CREATE TABLE parley.agent_releases (
  org text COLLATE "C" NOT NULL REFERENCES parley.organizations (name),
  agent_uid text COLLATE "C" NOT NULL,
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
  PRIMARY KEY (org, agent_uid, id)
);

ALTER TABLE parley.agent_releases ENABLE ROW LEVEL SECURITY;
ALTER TABLE parley.agent_releases FORCE ROW LEVEL SECURITY;
CREATE POLICY own_organization ON parley.agent_releases TO parley_app
  USING (org = current_setting('parley.org', true))
  WITH CHECK (org = current_setting('parley.org', true));
CREATE POLICY leaving ON parley.agent_releases TO CURRENT_USER USING (org = current_setting('parley.leaving', true));
GRANT SELECT, INSERT, DELETE ON parley.agent_releases TO parley_app;

-- What serves now began the record. Not even from the owner of the tables are rows hidden meanwhile.
ALTER TABLE parley.agent_serving NO FORCE ROW LEVEL SECURITY;
ALTER TABLE parley.agent_releases NO FORCE ROW LEVEL SECURITY;
INSERT INTO parley.agent_releases (org, agent_uid, change, revision, at)
  SELECT org, agent_uid, 'served', revision, active_since FROM parley.agent_serving WHERE retired_at IS NULL;
ALTER TABLE parley.agent_serving FORCE ROW LEVEL SECURITY;
ALTER TABLE parley.agent_releases FORCE ROW LEVEL SECURITY;

-- Whether the call was one of a canary.
ALTER TABLE parley.calls ADD COLUMN canary boolean NOT NULL DEFAULT false;

-- What came of the calls of a revision, the latest first.
CREATE INDEX calls_of_revision ON parley.calls (org, agent_uid, revision, ended_at) WHERE ended_at IS NOT NULL;
