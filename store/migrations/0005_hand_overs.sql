-- Several agents may take part in a call: the one that it begins with hands it over to others, and they hand it back.

-- The agents that a call may be handed over to, each with the revision that it serves the call with: fixed when the call is registered, as that of
-- the agent that it begins with, which has no row here.
CREATE TABLE parley.call_agents (
  org text COLLATE "C" NOT NULL,
  call_id text COLLATE "C" NOT NULL,
  agent_name text COLLATE "C" NOT NULL CHECK (char_length(agent_name) BETWEEN 1 AND 253),
  revision text COLLATE "C" NOT NULL CHECK (revision ~ '^[0-9a-f]{64}$'),
  canary boolean NOT NULL DEFAULT false,
  -- When it took over first; NULL while it has no part in the call.
  took_over_at timestamptz(3),
  PRIMARY KEY (org, call_id, agent_name),
  FOREIGN KEY (org, call_id) REFERENCES parley.calls (org, id) ON DELETE CASCADE
);

-- What came of the calls of a revision.
CREATE INDEX call_agents_of_revision ON parley.call_agents (org, agent_name, revision) WHERE took_over_at IS NOT NULL;

GRANT SELECT, INSERT, DELETE, UPDATE (took_over_at) ON parley.call_agents TO parley_app;
ALTER TABLE parley.call_agents ENABLE ROW LEVEL SECURITY;
ALTER TABLE parley.call_agents FORCE ROW LEVEL SECURITY;
CREATE POLICY own_organization ON parley.call_agents TO parley_app
  USING (org = current_setting('parley.org', true)) WITH CHECK (org = current_setting('parley.org', true));
CREATE POLICY leaving ON parley.call_agents TO CURRENT_USER USING (org = current_setting('parley.leaving', true));

-- Whose they are; NULL for the words of a user, and for rows of before, which are of the agent that talked.
ALTER TABLE parley.call_messages ADD COLUMN agent text COLLATE "C" CHECK (char_length(agent) BETWEEN 1 AND 253);
ALTER TABLE parley.call_turns ADD COLUMN agent text COLLATE "C" CHECK (char_length(agent) BETWEEN 1 AND 253);
ALTER TABLE parley.call_tool_calls ADD COLUMN agent text COLLATE "C" CHECK (char_length(agent) BETWEEN 1 AND 253);
-- NULL for the analysis, which the agent that the call began with asks for.
ALTER TABLE parley.call_usage ADD COLUMN agent text COLLATE "C" CHECK (char_length(agent) BETWEEN 1 AND 253);

-- The agent has spent what it has used, whoever the call began with.
CREATE OR REPLACE FUNCTION parley.add_agent_spending() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  more bigint := NEW.cost_micros;
BEGIN
  -- Who counts keeps to one table of prices, and so to one currency.
  IF TG_OP = 'UPDATE' THEN more := more - coalesce(OLD.cost_micros, 0); END IF;
  IF coalesce(more, 0) = 0 THEN RETURN NULL; END IF;
  INSERT INTO parley.agent_spending AS spent (org, agent_name, quarter, currency, micros)
  SELECT c.org, coalesce(NEW.agent, c.talking_agent), date_bin('15 minutes', c.created_at, '2000-01-01Z'), NEW.currency, more
  FROM parley.calls c WHERE c.org = NEW.org AND c.id = NEW.call_id AND c.test IS NULL
  ON CONFLICT (org, agent_name, quarter, currency) DO UPDATE SET micros = spent.micros + EXCLUDED.micros;
  RETURN NULL;
END
$$;
