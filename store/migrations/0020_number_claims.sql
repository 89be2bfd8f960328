-- Whose a phone number is: claimed when it is first used, and reserved for its organisation for a while after its PhoneNumber has gone.

CREATE TABLE parley.number_claims (
  number text COLLATE "C" PRIMARY KEY CHECK (number ~ '^\+[1-9]\d{1,14}$'),
  -- No reference: a reservation outlives its organisation.
  org text COLLATE "C" NOT NULL CHECK (char_length(org) BETWEEN 1 AND 63),
  -- Of the PhoneNumber that has the number, or had it last.
  uid text COLLATE "C" NOT NULL CHECK (char_length(uid) BETWEEN 1 AND 128),
  claimed_at timestamptz(3) NOT NULL DEFAULT now(),
  -- When its PhoneNumber went: the reservation begins.
  released_at timestamptz(3),
  UNIQUE (number, org)
);

ALTER TABLE parley.number_claims ENABLE ROW LEVEL SECURITY;
ALTER TABLE parley.number_claims FORCE ROW LEVEL SECURITY;

CREATE POLICY own_organization ON parley.number_claims TO parley_app
  USING (org = current_setting('parley.org', true))
  WITH CHECK (org = current_setting('parley.org', true));
GRANT SELECT, INSERT (number, org, uid), UPDATE (released_at) ON parley.number_claims TO parley_app;

-- A number passes from one organisation to another in the functions below, and nowhere else.
CREATE POLICY passing_on ON parley.number_claims TO parley_directory USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON parley.number_claims TO parley_directory;
CREATE POLICY leftovers ON parley.phone_routes FOR DELETE TO parley_directory USING (true);
GRANT DELETE ON parley.phone_routes TO parley_directory;

-- Not even from the owner of the tables are rows hidden while those that there are get their claims.
ALTER TABLE parley.phone_routes NO FORCE ROW LEVEL SECURITY;
ALTER TABLE parley.number_claims NO FORCE ROW LEVEL SECURITY;
INSERT INTO parley.number_claims (number, org, uid) SELECT number, org, uid FROM parley.phone_routes;
ALTER TABLE parley.phone_routes FORCE ROW LEVEL SECURITY;
ALTER TABLE parley.number_claims FORCE ROW LEVEL SECURITY;

-- Calls reach whoever has the claim.
ALTER TABLE parley.phone_routes ADD FOREIGN KEY (number, org) REFERENCES parley.number_claims (number, org);

-- Who claims a number waits for whoever is claiming it: of two who insert the same row at once one would fail at its second unique index.
CREATE FUNCTION parley.lock_number(wanted text) RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$ SELECT pg_advisory_xact_lock(hashtextextended('parley number ' || wanted, 0)) $$;

-- True where the PhoneNumber of the organisation that is set has the number now. kept_ms: how long reservations last. assignees: who alone may have it.
CREATE FUNCTION parley.claim_number(wanted text, claimant text, kept_ms float8, assignees text[]) RETURNS boolean
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT parley.lock_number(wanted);
  WITH claimed AS (
    INSERT INTO parley.number_claims AS c (number, org, uid) VALUES (wanted, current_setting('parley.org'), claimant)
    ON CONFLICT (number) DO UPDATE SET org = excluded.org, uid = excluded.uid, released_at = NULL,
      claimed_at = CASE WHEN c.org = excluded.org THEN c.claimed_at ELSE excluded.claimed_at END
    WHERE c.org = excluded.org OR c.released_at <= now() - kept_ms * interval '1 millisecond' OR c.org <> ALL (assignees)
    RETURNING 1
  )
  SELECT count(*) > 0 FROM claimed
$$;

CREATE FUNCTION parley.claim_of_number(wanted text) RETURNS TABLE (org text, uid text, released_at timestamptz)
LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ SELECT c.org, c.uid, c.released_at FROM parley.number_claims c WHERE c.number = wanted $$;

-- The numbers of PhoneNumbers that are no longer there. within: of one organisation only.
CREATE FUNCTION parley.release_numbers(living text[], within text) RETURNS SETOF text
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  WITH gone AS (
    UPDATE parley.number_claims c SET released_at = now()
    WHERE c.released_at IS NULL AND c.uid <> ALL (living) AND (within IS NULL OR c.org = within)
    RETURNING c.number, c.org, c.uid
  ), routes AS (
    DELETE FROM parley.phone_routes r USING gone g WHERE r.org = g.org AND r.uid = g.uid
  )
  SELECT g.number FROM gone g
$$;

-- Ends a reservation. Null where there is none.
CREATE FUNCTION parley.end_reservation(wanted text) RETURNS text
LANGUAGE sql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ DELETE FROM parley.number_claims c WHERE c.number = wanted AND c.released_at IS NOT NULL RETURNING c.org $$;

GRANT CREATE ON SCHEMA parley TO parley_directory;
ALTER FUNCTION parley.claim_number(text, text, float8, text[]) OWNER TO parley_directory;
ALTER FUNCTION parley.claim_of_number(text) OWNER TO parley_directory;
ALTER FUNCTION parley.release_numbers(text[], text) OWNER TO parley_directory;
ALTER FUNCTION parley.end_reservation(text) OWNER TO parley_directory;
REVOKE CREATE ON SCHEMA parley FROM parley_directory;

SET LOCAL ROLE parley_directory;
REVOKE ALL ON FUNCTION parley.claim_number(text, text, float8, text[]), parley.claim_of_number(text), parley.release_numbers(text[], text), parley.end_reservation(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION parley.claim_number(text, text, float8, text[]), parley.claim_of_number(text), parley.release_numbers(text[], text), parley.end_reservation(text) TO parley_app;
RESET ROLE;
