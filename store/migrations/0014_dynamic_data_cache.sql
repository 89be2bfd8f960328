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

ALTER TABLE parley.dynamic_data_cache ENABLE ROW LEVEL SECURITY;
ALTER TABLE parley.dynamic_data_cache FORCE ROW LEVEL SECURITY;
CREATE POLICY own_organization ON parley.dynamic_data_cache TO parley_app
  USING (org = current_setting('parley.org', true)) WITH CHECK (org = current_setting('parley.org', true));

GRANT SELECT, INSERT, UPDATE, DELETE ON parley.dynamic_data_cache TO parley_app;

-- What a call was registered with is joined by what was looked up for it before it began.
GRANT UPDATE (dynamic_data) ON parley.calls TO parley_app;
