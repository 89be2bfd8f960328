-- Control of live calls: what people asked of a call while it went on, who they were, and what came of it.

CREATE TABLE parley.call_commands (
  org text COLLATE "C" NOT NULL,
  call_id text COLLATE "C" NOT NULL,
  -- Made in the order of time.
  id text COLLATE "C" NOT NULL CHECK (id ~ '^cmd_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'),
  kind text NOT NULL CHECK (kind IN ('say', 'instructions', 'transfer', 'mute', 'listen', 'take_over')),
  -- As it was asked for.
  body jsonb NOT NULL CHECK (jsonb_typeof(body) = 'object' AND octet_length(body::text) <= 65536),
  -- The job of the call takes a pending one once: it is carried out at most once, and one that has expired never.
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'running', 'done', 'refused', 'expired')),
  -- Why it was not carried out.
  reason text CHECK (char_length(reason) <= 1000),
  created_by text CHECK (char_length(created_by) <= 200),
  created_by_key text COLLATE "C" NOT NULL CHECK (char_length(created_by_key) <= 64),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  finished_at timestamptz(3),
  PRIMARY KEY (org, call_id, id),
  FOREIGN KEY (org, call_id) REFERENCES parley.calls (org, id) ON DELETE CASCADE,
  CHECK ((status IN ('pending', 'running')) = (finished_at IS NULL)),
  CHECK ((status IN ('refused', 'expired')) = (reason IS NOT NULL))
);

GRANT SELECT, INSERT, DELETE, UPDATE (body, status, reason, finished_at) ON parley.call_commands TO parley_app;

ALTER TABLE parley.call_commands ENABLE ROW LEVEL SECURITY;
ALTER TABLE parley.call_commands FORCE ROW LEVEL SECURITY;
CREATE POLICY own_organization ON parley.call_commands TO parley_app
  USING (org = current_setting('parley.org', true)) WITH CHECK (org = current_setting('parley.org', true));
CREATE POLICY leaving ON parley.call_commands TO CURRENT_USER USING (org = current_setting('parley.leaving', true));

-- The order in which the rows of a call's log were written, by its job alone and one write after the other: whoever follows a call goes on behind the
-- last row that they have. Numbers of the conversation (`seq`) say when something began.
CREATE SEQUENCE parley.call_log_positions;
ALTER TABLE parley.call_messages ADD COLUMN position bigint NOT NULL DEFAULT nextval('parley.call_log_positions');
ALTER TABLE parley.call_turns ADD COLUMN position bigint NOT NULL DEFAULT nextval('parley.call_log_positions');
ALTER TABLE parley.call_tool_calls ADD COLUMN position bigint NOT NULL DEFAULT nextval('parley.call_log_positions');

GRANT USAGE ON SEQUENCE parley.call_log_positions TO parley_app;
