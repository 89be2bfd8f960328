-- What page tokens and the addresses of recordings are signed with: made here once, the same for all replicas, and guessable from nothing else.
-- Random by the server's own generator: two version 4 UUIDs have 244 bits.

CREATE TABLE parley.signing_secret (
  only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
  secret bytea NOT NULL CHECK (octet_length(secret) = 32)
);
INSERT INTO parley.signing_secret (secret) VALUES (sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())));

-- Out of everybody's reach but for the function.
ALTER TABLE parley.signing_secret ENABLE ROW LEVEL SECURITY;
ALTER TABLE parley.signing_secret FORCE ROW LEVEL SECURITY;
CREATE POLICY one_reader ON parley.signing_secret FOR SELECT TO parley_directory USING (true);
GRANT SELECT ON parley.signing_secret TO parley_directory;

CREATE FUNCTION parley.signing_secret() RETURNS bytea
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ SELECT secret FROM parley.signing_secret $$;

GRANT CREATE ON SCHEMA parley TO parley_directory;
ALTER FUNCTION parley.signing_secret() OWNER TO parley_directory;
REVOKE CREATE ON SCHEMA parley FROM parley_directory;

SET LOCAL ROLE parley_directory;
REVOKE ALL ON FUNCTION parley.signing_secret() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION parley.signing_secret() TO parley_app;
RESET ROLE;
