-- What the replicas tell each other of the requests that they have let through. Worth nothing after a crash, so that it needs no log on disk.
-- A row is one bucket: `full_at` is when it will be full again, and how far that lies ahead is how much has been taken from it.

CREATE UNLOGGED TABLE parley.rate_limits (
  subject text COLLATE "C" PRIMARY KEY CHECK (char_length(subject) BETWEEN 1 AND 200),
  full_at timestamptz NOT NULL,
  -- What the last exchange added: an upsert has to know it apart from the sum.
  last_taken interval NOT NULL
);

-- One exchange is about keys of many organisations, so that it can't run as one of them. The table is out of everybody's
-- reach; the function takes and answers amounts of time for subjects that the caller names, and nothing else.
ALTER TABLE parley.rate_limits ENABLE ROW LEVEL SECURITY;
ALTER TABLE parley.rate_limits FORCE ROW LEVEL SECURITY;
CREATE POLICY exchange ON parley.rate_limits TO parley_directory USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON parley.rate_limits TO parley_directory;

-- Ordered, so that two exchanges never wait for each other.
-- What was taken counts from when the first of it was taken, not from when it is told: time gives it back from then on.
CREATE FUNCTION parley.exchange_rate_limits(subjects text[], taken_ms float8[], ago_ms float8[])
RETURNS TABLE (subject text, ahead_ms float8)
LANGUAGE sql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  INSERT INTO parley.rate_limits AS bucket (subject, full_at, last_taken)
  SELECT given.subject, now() + (given.ms - given.ago) * interval '1 millisecond', given.ms * interval '1 millisecond'
  FROM unnest(subjects, taken_ms, ago_ms) AS given (subject, ms, ago) ORDER BY given.subject
  ON CONFLICT ON CONSTRAINT rate_limits_pkey DO UPDATE
    SET full_at = greatest(bucket.full_at + excluded.last_taken, excluded.full_at), last_taken = excluded.last_taken
  RETURNING bucket.subject, extract(epoch FROM bucket.full_at - now())::float8 * 1000
$$;

CREATE FUNCTION parley.forget_full_rate_limits() RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  DELETE FROM parley.rate_limits AS bucket WHERE bucket.subject IN (
    SELECT idle.subject FROM parley.rate_limits AS idle WHERE idle.full_at < now() - interval '1 minute'
    ORDER BY idle.subject FOR UPDATE SKIP LOCKED)
$$;

GRANT CREATE ON SCHEMA parley TO parley_directory;
ALTER FUNCTION parley.exchange_rate_limits(text[], float8[], float8[]) OWNER TO parley_directory;
ALTER FUNCTION parley.forget_full_rate_limits() OWNER TO parley_directory;
REVOKE CREATE ON SCHEMA parley FROM parley_directory;

SET LOCAL ROLE parley_directory;
REVOKE ALL ON FUNCTION parley.exchange_rate_limits(text[], float8[], float8[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION parley.forget_full_rate_limits() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION parley.exchange_rate_limits(text[], float8[], float8[]) TO parley_app;
GRANT EXECUTE ON FUNCTION parley.forget_full_rate_limits() TO parley_app;
RESET ROLE;
