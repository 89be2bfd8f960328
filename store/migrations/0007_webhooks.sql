-- Events and their deliveries. An event is written with the change it tells of; what is to be done about it stands in the outbox until it is
-- relayed, and from then on in a delivery for each subscription that gets it.
-- Ids are times: an event's is a UUIDv7, and a delivery's begins with the same 48 bits. Tables are cut by ranges of ids, so that old rows go by the table.

CREATE TABLE parley.events (
  id uuid PRIMARY KEY,
  org text COLLATE "C" NOT NULL CHECK (char_length(org) BETWEEN 1 AND 63),
  name text COLLATE "C" NOT NULL CHECK (char_length(name) BETWEEN 1 AND 128),
  -- What subscriptions choose by: names of resources, workspaces by their label.
  agent text COLLATE "C" CHECK (char_length(agent) BETWEEN 1 AND 253),
  workspace text COLLATE "C" CHECK (char_length(workspace) BETWEEN 1 AND 253),
  -- For one subscription alone, or for all but one.
  only_subscription text COLLATE "C" CHECK (char_length(only_subscription) BETWEEN 1 AND 128),
  except_subscription text COLLATE "C" CHECK (char_length(except_subscription) BETWEEN 1 AND 128),
  created_at timestamptz(3) NOT NULL DEFAULT now()
) PARTITION BY RANGE (id);

-- The bytes that are signed and sent, once for all subscriptions. Kept for a shorter time than what became of them.
CREATE TABLE parley.event_bodies (
  id uuid PRIMARY KEY,
  org text COLLATE "C" NOT NULL,
  body bytea NOT NULL CHECK (octet_length(body) <= 1048576)
) PARTITION BY RANGE (id);

-- A row for each event that isn't relayed yet. Never large unless nobody relays; vacuumed often, because every row of it dies young.
CREATE TABLE parley.outbox (
  event_id uuid PRIMARY KEY,
  org text COLLATE "C" NOT NULL,
  due_at timestamptz NOT NULL DEFAULT now()
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_insert_threshold = -1);

CREATE INDEX outbox_due ON parley.outbox (due_at);

CREATE TABLE parley.deliveries (
  -- Follows from the event and the subscription: the same one can't be made twice.
  id uuid PRIMARY KEY,
  org text COLLATE "C" NOT NULL,
  event_id uuid NOT NULL,
  event_name text COLLATE "C" NOT NULL,
  -- Of the WebhookSubscription, or of the Agent with an address of its own.
  subscription_uid text COLLATE "C" NOT NULL CHECK (char_length(subscription_uid) BETWEEN 1 AND 128),
  state text COLLATE "C" NOT NULL CHECK (state IN ('pending', 'retry_pending', 'retrying', 'paused', 'succeeded', 'failed', 'skipped')),
  reason text COLLATE "C" CHECK (char_length(reason) <= 64),
  -- Rows of delivery_attempts.
  attempts int NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  -- Attempts before the present series: a delivery that is sent anew has its full number of retries again.
  series_start int NOT NULL DEFAULT 0 CHECK (series_start BETWEEN 0 AND attempts),
  -- When there is something to do for it; while somebody is at it, when somebody else may take it.
  due_at timestamptz,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  ended_at timestamptz(3),
  CHECK ((ended_at IS NOT NULL) = (state IN ('succeeded', 'failed', 'skipped')))
) PARTITION BY RANGE (id);

CREATE INDEX deliveries_of_subscription ON parley.deliveries (subscription_uid, id);
CREATE INDEX deliveries_due ON parley.deliveries (subscription_uid, due_at) WHERE state = 'pending';
CREATE INDEX deliveries_retries ON parley.deliveries (due_at) WHERE state IN ('retry_pending', 'retrying');
CREATE INDEX deliveries_by_state ON parley.deliveries (subscription_uid, state, id) WHERE state NOT IN ('pending', 'succeeded');

CREATE TABLE parley.delivery_attempts (
  delivery_id uuid NOT NULL,
  number int NOT NULL CHECK (number > 0),
  org text COLLATE "C" NOT NULL,
  subscription_uid text COLLATE "C" NOT NULL,
  started_at timestamptz(3) NOT NULL,
  duration_ms int NOT NULL CHECK (duration_ms >= 0),
  succeeded boolean NOT NULL,
  reason text COLLATE "C" NOT NULL CHECK (char_length(reason) <= 64),
  status_code int CHECK (status_code BETWEEN 100 AND 999),
  message text NOT NULL DEFAULT '' CHECK (char_length(message) <= 1024),
  PRIMARY KEY (delivery_id, number)
) PARTITION BY RANGE (delivery_id);

CREATE INDEX delivery_attempts_of_subscription ON parley.delivery_attempts (subscription_uid, started_at);

-- What is known of an address that events are sent to. The truth; the resource's status is a copy.
CREATE TABLE parley.webhook_endpoints (
  subscription_uid text COLLATE "C" PRIMARY KEY CHECK (char_length(subscription_uid) BETWEEN 1 AND 128),
  org text COLLATE "C" NOT NULL,
  breaker text NOT NULL DEFAULT 'closed' CHECK (breaker IN ('closed', 'open', 'half_open')),
  -- While open: when the next delivery is tried.
  probe_at timestamptz,
  -- How often it has opened, or a probe has failed, since it was last closed.
  opened int NOT NULL DEFAULT 0 CHECK (opened >= 0),
  -- While half open: how many may go out in this step, and how many of them still may.
  ramp int NOT NULL DEFAULT 0 CHECK (ramp >= 0),
  ramp_left int NOT NULL DEFAULT 0 CHECK (ramp_left >= 0),
  last_success_at timestamptz(3),
  last_failure_at timestamptz(3),
  consecutive_failures int NOT NULL DEFAULT 0 CHECK (consecutive_failures >= 0),
  -- Of the first failure since the last success.
  failing_since timestamptz(3),
  -- In how many different spans of 12 hours there were failures since then, and the last of these spans, counted from the epoch.
  failure_slots int NOT NULL DEFAULT 0 CHECK (failure_slots >= 0),
  last_failure_slot int,
  disabled_at timestamptz(3),
  disabled_reason text CHECK (char_length(disabled_reason) <= 256),
  -- The resource as it was then: a later one is enabled again.
  disabled_generation bigint,
  -- Raised with every change of the breaker and of the disabling: whoever decides does so on what still holds.
  version bigint NOT NULL DEFAULT 0,
  changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  status_written_at timestamptz
) WITH (fillfactor = 70);

-- What a write of a subscription came to, written before it is answered: a relay that hasn't seen as much yet waits.
CREATE TABLE parley.webhook_watermarks (
  org text COLLATE "C" PRIMARY KEY CHECK (char_length(org) BETWEEN 1 AND 63),
  subscriptions_version text COLLATE "C" CHECK (subscriptions_version ~ '^[0-9]{1,40}$'),
  secrets_version text COLLATE "C" CHECK (secrets_version ~ '^[0-9]{1,40}$'),
  at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 70);

-- Events of a knowledge base are of its workspace.
ALTER TABLE parley.collections ADD COLUMN workspace text COLLATE "C" CHECK (char_length(workspace) BETWEEN 1 AND 253);
GRANT UPDATE (workspace) ON parley.collections TO parley_app;

-- Two roles: parley_app as one organisation, and parley_dispatcher, which sends what all organisations have to send and sees nothing else of them.
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['events', 'event_bodies', 'outbox', 'deliveries', 'delivery_attempts', 'webhook_endpoints', 'webhook_watermarks'] LOOP
    EXECUTE format('ALTER TABLE parley.%I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE parley.%I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format(
      'CREATE POLICY own_organization ON parley.%I TO parley_app USING (org = current_setting(''parley.org'', true)) WITH CHECK (org = current_setting(''parley.org'', true))',
      name);
    EXECUTE format('CREATE POLICY delivering ON parley.%I TO parley_dispatcher USING (true) WITH CHECK (true)', name);
  END LOOP;
END
$$;

GRANT USAGE ON SCHEMA parley TO parley_dispatcher;
GRANT SELECT ON parley.schema_migrations TO parley_dispatcher;

GRANT SELECT, INSERT ON parley.events, parley.event_bodies TO parley_app, parley_dispatcher;
GRANT SELECT, INSERT ON parley.outbox TO parley_app;
GRANT SELECT, INSERT, UPDATE (due_at), DELETE ON parley.outbox TO parley_dispatcher;
GRANT SELECT, UPDATE (state, reason, series_start, due_at, ended_at) ON parley.deliveries TO parley_app;
GRANT SELECT, INSERT, UPDATE (state, reason, attempts, series_start, due_at, ended_at) ON parley.deliveries TO parley_dispatcher;
GRANT SELECT ON parley.delivery_attempts TO parley_app;
GRANT SELECT, INSERT ON parley.delivery_attempts TO parley_dispatcher;
GRANT SELECT, INSERT, UPDATE, DELETE ON parley.webhook_endpoints TO parley_app, parley_dispatcher;
GRANT SELECT, INSERT, UPDATE ON parley.webhook_watermarks TO parley_app;
GRANT SELECT ON parley.webhook_watermarks TO parley_dispatcher;

-- The smallest id of a moment, of events and of deliveries. Moments that no id can tell are the nearest that one can.
CREATE FUNCTION parley.uuid_at(moment timestamptz) RETURNS uuid
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
  SELECT (lpad(to_hex(greatest(0, least(floor(extract(epoch FROM moment) * 1000), 281474976710655))::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- Makes the tables of the weeks and days to come, and drops those whose rows are all older than what is kept. What fits nowhere is in the
-- default partitions, from where it is moved or deleted. Nobody waits long for its locks: what it can't get soon is left for the next time.
CREATE FUNCTION parley.maintain_event_partitions(keep_rows interval, keep_bodies interval)
RETURNS TABLE (made int, dropped int, deleted bigint, postponed int)
LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '1s' SET timezone = 'UTC'
AS $$
DECLARE
  plan record;
  child record;
  begins timestamptz;
  part text;
  lower_id uuid;
  upper_id uuid;
  gone bigint;
BEGIN
  made := 0; dropped := 0; deleted := 0; postponed := 0;
  IF NOT pg_try_advisory_xact_lock(hashtext('parley.maintain_event_partitions')) THEN
    postponed := 1;
    RETURN NEXT;
    RETURN;
  END IF;
  FOR plan IN
    -- A mistake in a setting can't delete what is on its way.
    SELECT t.name, t.width, t.ahead, now() - greatest(t.keep, interval '1 day') AS oldest
    FROM (VALUES
      ('events', interval '7 days', 5, keep_rows),
      ('deliveries', interval '7 days', 5, keep_rows),
      ('delivery_attempts', interval '7 days', 5, keep_rows),
      ('event_bodies', interval '1 day', 15, keep_bodies)) AS t (name, width, ahead, keep)
  LOOP
    FOR child IN
      SELECT c.relname AS name, to_date(right(c.relname, 8), 'YYYYMMDD')::timestamptz + plan.width AS ends
      FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
      WHERE i.inhparent = format('parley.%I', plan.name)::regclass AND c.relname ~ ('^' || plan.name || '_p[0-9]{8}$') ORDER BY 1
    LOOP
      CONTINUE WHEN child.ends > plan.oldest;
      BEGIN
        EXECUTE format('DROP TABLE parley.%I', child.name);
        dropped := dropped + 1;
      EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
        postponed := postponed + 1;
      END;
    END LOOP;

    BEGIN
      EXECUTE format('DELETE FROM parley.%I WHERE %I < parley.uuid_at($1)',
        plan.name || '_default', CASE plan.name WHEN 'delivery_attempts' THEN 'delivery_id' ELSE 'id' END) USING plan.oldest;
      GET DIAGNOSTICS gone = ROW_COUNT;
      deleted := deleted + gone;
    EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
      postponed := postponed + 1;
    END;

    FOR step IN 0..plan.ahead LOOP
      begins := date_bin(plan.width, now() + step * plan.width, timestamptz '2024-01-01 00:00:00+00');
      part := plan.name || '_p' || to_char(begins, 'YYYYMMDD');
      CONTINUE WHEN to_regclass(format('parley.%I', part)) IS NOT NULL;
      lower_id := parley.uuid_at(begins);
      upper_id := parley.uuid_at(begins + plan.width);
      BEGIN
        -- Attached and not made in place: that would lock the whole table against everybody.
        EXECUTE format('CREATE TABLE parley.%I (LIKE parley.%I INCLUDING ALL)', part, plan.name);
        EXECUTE format('ALTER TABLE parley.%I ENABLE ROW LEVEL SECURITY', part);
        EXECUTE format('WITH moved AS (DELETE FROM parley.%I WHERE %I >= $1 AND %2$I < $2 RETURNING *) INSERT INTO parley.%3$I SELECT * FROM moved',
          plan.name || '_default', CASE plan.name WHEN 'delivery_attempts' THEN 'delivery_id' ELSE 'id' END, part) USING lower_id, upper_id;
        EXECUTE format('ALTER TABLE parley.%I ATTACH PARTITION parley.%I FOR VALUES FROM (%L) TO (%L)', plan.name, part, lower_id, upper_id);
        EXECUTE format('ALTER TABLE parley.%I FORCE ROW LEVEL SECURITY', part);
        made := made + 1;
      -- Somebody wrote another row of that time meanwhile, or holds what is needed.
      EXCEPTION WHEN lock_not_available OR deadlock_detected OR check_violation THEN
        postponed := postponed + 1;
      END;
    END LOOP;
  END LOOP;
  RETURN NEXT;
END
$$;

-- Partitions are reached through their table alone; the owner moves rows out of the default ones.
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['events', 'event_bodies', 'deliveries', 'delivery_attempts'] LOOP
    EXECUTE format('CREATE TABLE parley.%I PARTITION OF parley.%I DEFAULT', name || '_default', name);
    EXECUTE format('ALTER TABLE parley.%I ENABLE ROW LEVEL SECURITY', name || '_default');
    EXECUTE format('ALTER TABLE parley.%I FORCE ROW LEVEL SECURITY', name || '_default');
    EXECUTE format('CREATE POLICY maintenance ON parley.%I TO CURRENT_USER USING (true) WITH CHECK (true)', name || '_default');
  END LOOP;
END
$$;

REVOKE ALL ON FUNCTION parley.uuid_at(timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION parley.uuid_at(timestamptz) TO parley_app, parley_dispatcher;
REVOKE ALL ON FUNCTION parley.maintain_event_partitions(interval, interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION parley.maintain_event_partitions(interval, interval) TO parley_app, parley_dispatcher;

SELECT parley.maintain_event_partitions('100 years', '100 years');
