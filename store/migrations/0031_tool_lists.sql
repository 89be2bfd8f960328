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

ALTER TABLE parley.tool_lists ENABLE ROW LEVEL SECURITY;
ALTER TABLE parley.tool_lists FORCE ROW LEVEL SECURITY;
CREATE POLICY own_organization ON parley.tool_lists TO parley_app
  USING (org = current_setting('parley.org', true)) WITH CHECK (org = current_setting('parley.org', true));
CREATE POLICY leaving ON parley.tool_lists TO CURRENT_USER USING (org = current_setting('parley.leaving', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON parley.tool_lists TO parley_app;

-- Those that are due are looked for across organisations, and so are those whose tool is gone.
CREATE POLICY whereabouts ON parley.tool_lists FOR SELECT TO parley_directory USING (true);
GRANT SELECT (org, tool_uid, due_at) ON parley.tool_lists TO parley_directory;
