-- Calls: who talked to which revision of which agent, what was said, how it ended.

-- How many calls of an organisation may be registered or ongoing at the same time.
ALTER TABLE parley.organizations ADD COLUMN live_call_limit int NOT NULL DEFAULT 10 CHECK (live_call_limit BETWEEN 0 AND 100000);
GRANT UPDATE (live_call_limit) ON parley.organizations TO parley_app;

CREATE TABLE parley.calls (
  org text COLLATE "C" NOT NULL REFERENCES parley.organizations (name),
  -- Made in the order of time. A media server tells a job nothing but this, so that it is one call's in the whole deployment.
  id text COLLATE "C" NOT NULL UNIQUE CHECK (id ~ '^call_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'),
  call_type text NOT NULL CHECK (call_type IN ('web_call', 'phone_call')),
  direction text CHECK (direction IN ('inbound', 'outbound')),
  status text NOT NULL CHECK (status IN ('registered', 'ongoing', 'ended', 'error')),
  finish_reason text,
  -- As it was asked for, by names; who talks is the second where there is one.
  agent_name text COLLATE "C" NOT NULL CHECK (char_length(agent_name) BETWEEN 1 AND 253),
  agent_display_name text NOT NULL CHECK (char_length(agent_display_name) <= 253),
  override_agent_name text COLLATE "C" CHECK (char_length(override_agent_name) BETWEEN 1 AND 253),
  -- Who talks, and the configuration that it keeps to its end. No reference: calls outlive revisions.
  agent_uid text COLLATE "C" NOT NULL CHECK (char_length(agent_uid) BETWEEN 1 AND 128),
  revision text COLLATE "C" NOT NULL CHECK (revision ~ '^[0-9a-f]{64}$'),
  -- Of the agent: what its events are of.
  workspace text COLLATE "C" CHECK (char_length(workspace) BETWEEN 1 AND 253),
  max_duration_ms int NOT NULL CHECK (max_duration_ms > 0),
  room text COLLATE "C" NOT NULL UNIQUE CHECK (char_length(room) BETWEEN 1 AND 200),
  -- Until when its token opens the room; of a web call.
  token_expires_at timestamptz(3),
  from_number text CHECK (char_length(from_number) <= 256),
  to_number text CHECK (char_length(to_number) <= 256),
  sip_call_id text COLLATE "C" CHECK (char_length(sip_call_id) BETWEEN 1 AND 256),
  metadata jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(metadata) = 'object'),
  dynamic_data jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(dynamic_data) = 'object'),
  created_by text CHECK (char_length(created_by) <= 200),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  -- The first media.
  started_at timestamptz(3),
  ended_at timestamptz(3),
  -- Which job serves the call, and when it was last heard of.
  job_id text COLLATE "C" CHECK (char_length(job_id) BETWEEN 1 AND 128),
  job_seen_at timestamptz(3),
  recording_key text CHECK (char_length(recording_key) <= 512),
  recording_bytes bigint CHECK (recording_bytes >= 0),
  recording_duration_ms bigint CHECK (recording_duration_ms >= 0),
  recorded_at timestamptz(3),
  PRIMARY KEY (org, id),
  CHECK ((call_type = 'phone_call') = (direction IS NOT NULL)),
  CHECK ((recording_key IS NULL) = (recorded_at IS NULL)),
  -- A call that is over has a reason that fits, and a time; one that isn't has neither.
  CHECK ((status IN ('ended', 'error')) = (ended_at IS NOT NULL)),
  CHECK (status <> 'ongoing' OR started_at IS NOT NULL),
  CHECK (CASE status
    WHEN 'ended' THEN finish_reason IS NOT NULL AND finish_reason IN (
      'user_ended_call', 'agent_ended_call', 'call_transferred', 'inactivity_timeout', 'maximum_duration_exceeded', 'line_busy', 'no_answer')
    WHEN 'error' THEN finish_reason IS NOT NULL AND finish_reason IN (
      'concurrent_call_limit_reached', 'invalid_payment', 'potential_scam_detected', 'inbound_webhook_error', 'call_failed',
      'llm_websocket_initialization_error', 'llm_websocket_connection_lost', 'llm_websocket_runtime_error',
      'llm_websocket_payload_corruption', 'carrier_error', 'no_audio_input', 'speech_recognition_error',
      'native_platform_internal_error', 'unknown_error', 'user_connection_failure')
    ELSE finish_reason IS NULL
  END)
);

CREATE INDEX calls_live ON parley.calls (org) WHERE status IN ('registered', 'ongoing');
-- Of all organisations together: for what looks after calls that nobody ends.
CREATE INDEX calls_unfinished ON parley.calls (created_at) WHERE status IN ('registered', 'ongoing');
-- A gateway that reports the same incoming call again means the same call.
CREATE UNIQUE INDEX calls_by_sip_call ON parley.calls (org, sip_call_id, to_number) WHERE direction = 'inbound' AND sip_call_id IS NOT NULL;

-- The limit holds for everything that inserts a call. Live calls are counted, not remembered: whatever dies, the number is right.
-- The row of the organisation makes them come one after the other; what is counted behind the lock sees all who had it before.
CREATE FUNCTION parley.limit_live_calls() RETURNS trigger
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  allowed int;
BEGIN
  IF NEW.status NOT IN ('registered', 'ongoing') THEN RETURN NEW; END IF;
  SELECT live_call_limit INTO allowed FROM parley.organizations WHERE name = NEW.org FOR NO KEY UPDATE;
  -- The same call again, after a lost connection: it is in the count already, and the insertion does nothing.
  IF EXISTS (SELECT FROM parley.calls WHERE org = NEW.org AND id = NEW.id) THEN RETURN NEW; END IF;
  IF (SELECT count(*) FROM parley.calls WHERE org = NEW.org AND status IN ('registered', 'ongoing')) >= allowed THEN
    RAISE EXCEPTION '% live calls are the most that this organisation may have', allowed USING ERRCODE = 'PCL01';
  END IF;
  RETURN NEW;
END
$$;

CREATE TRIGGER calls_are_limited BEFORE INSERT ON parley.calls FOR EACH ROW EXECUTE FUNCTION parley.limit_live_calls();

-- Whatever a statement says: how a call ended stays as it was, and no call goes back.
CREATE FUNCTION parley.refuse_call_change() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RAISE EXCEPTION 'a call that is % does not become %', OLD.status, NEW.status USING ERRCODE = 'object_not_in_prerequisite_state';
END
$$;

CREATE TRIGGER calls_go_forward BEFORE UPDATE OF status, finish_reason, ended_at ON parley.calls FOR EACH ROW
  WHEN (OLD.status IN ('ended', 'error') OR (OLD.status = 'ongoing' AND NEW.status = 'registered'))
  EXECUTE FUNCTION parley.refuse_call_change();

-- What was said, as the job numbers it.
CREATE TABLE parley.call_messages (
  org text COLLATE "C" NOT NULL,
  call_id text COLLATE "C" NOT NULL,
  seq int NOT NULL CHECK (seq >= 0),
  role text NOT NULL CHECK (role IN ('agent', 'user')),
  content text NOT NULL CHECK (octet_length(content) <= 65536),
  spoken_at timestamptz(3) NOT NULL,
  -- The user cut in, and the rest of it was not heard.
  interrupted boolean NOT NULL DEFAULT false,
  -- What of the knowledge base the answer rests on.
  sources jsonb CHECK (jsonb_typeof(sources) = 'array'),
  PRIMARY KEY (org, call_id, seq),
  FOREIGN KEY (org, call_id) REFERENCES parley.calls (org, id) ON DELETE CASCADE
);

-- What each answer took, in milliseconds.
CREATE TABLE parley.call_turns (
  org text COLLATE "C" NOT NULL,
  call_id text COLLATE "C" NOT NULL,
  seq int NOT NULL CHECK (seq >= 0),
  eou real CHECK (eou >= 0),
  stt real CHECK (stt >= 0),
  llm_ttft real CHECK (llm_ttft >= 0),
  tts_ttfb real CHECK (tts_ttfb >= 0),
  v2v real CHECK (v2v >= 0),
  PRIMARY KEY (org, call_id, seq),
  FOREIGN KEY (org, call_id) REFERENCES parley.calls (org, id) ON DELETE CASCADE
);

DO $$
DECLARE
  tenant_table text;
BEGIN
  FOREACH tenant_table IN ARRAY ARRAY['calls', 'call_messages', 'call_turns'] LOOP
    EXECUTE format('ALTER TABLE parley.%I ENABLE ROW LEVEL SECURITY', tenant_table);
    EXECUTE format('ALTER TABLE parley.%I FORCE ROW LEVEL SECURITY', tenant_table);
    EXECUTE format(
      'CREATE POLICY own_organization ON parley.%I TO parley_app USING (org = current_setting(''parley.org'', true)) WITH CHECK (org = current_setting(''parley.org'', true))',
      tenant_table);
  END LOOP;
END
$$;

-- What a call is and whom it is with is final.
GRANT SELECT, INSERT, DELETE,
  UPDATE (status, finish_reason, started_at, ended_at, sip_call_id, job_id, job_seen_at, recording_key, recording_bytes, recording_duration_ms, recorded_at)
  ON parley.calls TO parley_app;
GRANT SELECT, INSERT, DELETE ON parley.call_messages, parley.call_turns TO parley_app;

-- Calls that nobody ends are looked for across organisations, by their times alone.
CREATE POLICY whereabouts ON parley.calls FOR SELECT TO parley_directory USING (true);
GRANT SELECT (org, id, room, status, created_at, started_at, job_seen_at, max_duration_ms) ON parley.calls TO parley_directory;

-- A job is told the id of its call and nothing else: whose it is has to be found before any organisation is set.
CREATE FUNCTION parley.organization_of_call(wanted text) RETURNS text
LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ SELECT c.org FROM parley.calls c WHERE c.id = wanted $$;

GRANT CREATE ON SCHEMA parley TO parley_directory;
ALTER FUNCTION parley.organization_of_call(text) OWNER TO parley_directory;
REVOKE CREATE ON SCHEMA parley FROM parley_directory;

SET LOCAL ROLE parley_directory;
REVOKE ALL ON FUNCTION parley.organization_of_call(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION parley.organization_of_call(text) TO parley_app;
RESET ROLE;
