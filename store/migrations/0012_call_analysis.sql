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

-- Whoever ends a call, and whatever dies a moment later: a call whose agent asks for something has its row from the very commit that ended it.
CREATE FUNCTION parley.ask_for_analysis() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  INSERT INTO parley.call_analyses (org, call_id)
  SELECT NEW.org, NEW.id FROM parley.agent_revisions r
  WHERE r.org = NEW.org AND r.agent_uid = NEW.agent_uid AND r.revision = NEW.revision
    AND jsonb_path_exists(r.config, '$.agent.postCallAnalysis[0]')
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END
$$;

CREATE TRIGGER calls_are_analysed AFTER UPDATE OF status ON parley.calls FOR EACH ROW
  WHEN (OLD.status IN ('registered', 'ongoing') AND NEW.status IN ('ended', 'error'))
  EXECUTE FUNCTION parley.ask_for_analysis();

ALTER TABLE parley.call_analyses ENABLE ROW LEVEL SECURITY;
ALTER TABLE parley.call_analyses FORCE ROW LEVEL SECURITY;
CREATE POLICY own_organization ON parley.call_analyses TO parley_app
  USING (org = current_setting('parley.org', true)) WITH CHECK (org = current_setting('parley.org', true));
GRANT SELECT, INSERT, DELETE, UPDATE (status, due_at, finished_at, items, error_code, error_message) ON parley.call_analyses TO parley_app;

-- Those that are due are looked for across organisations.
CREATE POLICY whereabouts ON parley.call_analyses FOR SELECT TO parley_directory USING (true);
GRANT SELECT (org, call_id, status, due_at) ON parley.call_analyses TO parley_directory;
