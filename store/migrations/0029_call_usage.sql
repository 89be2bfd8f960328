-- What calls have used of providers, and what it costs.

CREATE TABLE parley.call_usage (
  org text COLLATE "C" NOT NULL,
  call_id text COLLATE "C" NOT NULL,
  -- Who counts: the job that serves the call, an attempt at its analysis. Each writes its own totals.
  writer uuid NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('llm', 'stt', 'tts')),
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

-- What agents have spent, by the quarter of an hour in which their calls were made: no time zone has a midnight between two.
-- Calls of tests do not count. It stays when calls are deleted: what was spent is spent.
CREATE TABLE parley.agent_spending (
  org text COLLATE "C" NOT NULL REFERENCES parley.organizations (name),
  agent_uid text COLLATE "C" NOT NULL CHECK (char_length(agent_uid) BETWEEN 1 AND 128),
  quarter timestamptz NOT NULL,
  currency text COLLATE "C" NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  micros bigint NOT NULL,
  PRIMARY KEY (org, agent_uid, quarter, currency)
);

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
  INSERT INTO parley.agent_spending AS spent (org, agent_uid, quarter, currency, micros)
  SELECT c.org, c.agent_uid, date_bin('15 minutes', c.created_at, '2000-01-01Z'), NEW.currency, more
  FROM parley.calls c WHERE c.org = NEW.org AND c.id = NEW.call_id AND c.test IS NULL
  ON CONFLICT (org, agent_uid, quarter, currency) DO UPDATE SET micros = spent.micros + EXCLUDED.micros;
  RETURN NULL;
END
$$;

CREATE TRIGGER usage_is_spent AFTER INSERT OR UPDATE ON parley.call_usage FOR EACH ROW EXECUTE FUNCTION parley.add_agent_spending();

DO $$
DECLARE
  tenant_table text;
BEGIN
  FOREACH tenant_table IN ARRAY ARRAY['call_usage', 'agent_spending'] LOOP
    EXECUTE format('ALTER TABLE parley.%I ENABLE ROW LEVEL SECURITY', tenant_table);
    EXECUTE format('ALTER TABLE parley.%I FORCE ROW LEVEL SECURITY', tenant_table);
    EXECUTE format(
      'CREATE POLICY own_organization ON parley.%I TO parley_app USING (org = current_setting(''parley.org'', true)) WITH CHECK (org = current_setting(''parley.org'', true))',
      tenant_table);
    EXECUTE format('CREATE POLICY leaving ON parley.%I TO CURRENT_USER USING (org = current_setting(''parley.leaving'', true))', tenant_table);
  END LOOP;
END
$$;

GRANT SELECT, INSERT, DELETE, UPDATE (requests, estimated_requests, input_tokens, cached_input_tokens, output_tokens, reasoning_tokens,
  characters, audio_ms, cost_micros, currency, price_version) ON parley.call_usage TO parley_app;
GRANT SELECT, INSERT, DELETE, UPDATE (micros) ON parley.agent_spending TO parley_app;
CREATE INDEX agent_spending_over ON parley.agent_spending (org, quarter);
-- For sums over days.
CREATE INDEX calls_made ON parley.calls (org, created_at);
