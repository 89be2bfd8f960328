-- What calls run on: compiled agents, each revision written once and never changed, and the one that serves.

CREATE TABLE parley.agent_revisions (
  org text COLLATE "C" NOT NULL REFERENCES parley.organizations (name),
  agent_uid text COLLATE "C" NOT NULL CHECK (char_length(agent_uid) BETWEEN 1 AND 128),
  revision text COLLATE "C" NOT NULL CHECK (revision ~ '^[0-9a-f]{64}$'),
  agent_name text COLLATE "C" NOT NULL CHECK (char_length(agent_name) BETWEEN 1 AND 253),
  config jsonb NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (org, agent_uid, revision)
);

CREATE INDEX agent_revisions_newest_first ON parley.agent_revisions (org, agent_uid, created_at DESC, revision);

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

CREATE TABLE parley.agent_serving (
  org text COLLATE "C" NOT NULL REFERENCES parley.organizations (name),
  agent_uid text COLLATE "C" NOT NULL,
  agent_name text COLLATE "C" NOT NULL,
  revision text COLLATE "C" NOT NULL,
  active_since timestamptz(3) NOT NULL DEFAULT now(),
  -- When the agent was deleted. Final: the uid never comes back.
  retired_at timestamptz(3),
  PRIMARY KEY (org, agent_uid),
  -- Keeps the housekeeping from ever taking a revision that serves.
  FOREIGN KEY (org, agent_uid, revision) REFERENCES parley.agent_revisions (org, agent_uid, revision)
);

-- One agent of a name serves at a time.
CREATE UNIQUE INDEX agent_serving_by_name ON parley.agent_serving (org, agent_name) WHERE retired_at IS NULL;

ALTER TABLE parley.agent_revisions ENABLE ROW LEVEL SECURITY;
ALTER TABLE parley.agent_revisions FORCE ROW LEVEL SECURITY;
ALTER TABLE parley.agent_serving ENABLE ROW LEVEL SECURITY;
ALTER TABLE parley.agent_serving FORCE ROW LEVEL SECURITY;

CREATE POLICY own_organization ON parley.agent_revisions TO parley_app
  USING (org = current_setting('parley.org', true))
  WITH CHECK (org = current_setting('parley.org', true));

CREATE POLICY own_organization ON parley.agent_serving TO parley_app
  USING (org = current_setting('parley.org', true))
  WITH CHECK (org = current_setting('parley.org', true));

GRANT SELECT, INSERT, DELETE ON parley.agent_revisions TO parley_app;
GRANT SELECT, INSERT, DELETE, UPDATE (agent_name, revision, active_since, retired_at) ON parley.agent_serving TO parley_app;
