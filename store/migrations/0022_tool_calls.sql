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

ALTER TABLE parley.call_tool_calls ENABLE ROW LEVEL SECURITY;
ALTER TABLE parley.call_tool_calls FORCE ROW LEVEL SECURITY;
CREATE POLICY own_organization ON parley.call_tool_calls TO parley_app
  USING (org = current_setting('parley.org', true))
  WITH CHECK (org = current_setting('parley.org', true));
CREATE POLICY leaving ON parley.call_tool_calls TO CURRENT_USER USING (org = current_setting('parley.leaving', true));
GRANT SELECT, INSERT, DELETE ON parley.call_tool_calls TO parley_app;
