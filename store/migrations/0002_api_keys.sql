-- API keys. The clear key is never stored: secret_hash is the SHA-256 of the whole key.

CREATE TABLE parley.api_keys (
  org text COLLATE "C" NOT NULL REFERENCES parley.organizations (name),
  key_id text COLLATE "C" NOT NULL CHECK (key_id ~ '^key_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'),
  public_id text NOT NULL UNIQUE CHECK (public_id ~ '^[0-9A-Za-z]{8}$'),
  secret_hash bytea NOT NULL CHECK (octet_length(secret_hash) = 32),
  last_four text NOT NULL CHECK (char_length(last_four) = 4),
  name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
  permissions text[] NOT NULL CHECK (cardinality(permissions) <= 32),
  created_by_user_id text CHECK (char_length(created_by_user_id) <= 200),
  -- Whole milliseconds: a position in the list travels through JavaScript, whose dates have no more.
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expiration_date timestamptz(3) NOT NULL,
  revoked_at timestamptz(3),
  PRIMARY KEY (org, key_id)
);

CREATE INDEX api_keys_newest_first ON parley.api_keys (org, created_at DESC, key_id DESC);

ALTER TABLE parley.api_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE parley.api_keys FORCE ROW LEVEL SECURITY;

CREATE POLICY own_organization ON parley.api_keys TO parley_app
  USING (org = current_setting('parley.org', true))
  WITH CHECK (org = current_setting('parley.org', true));

GRANT SELECT, INSERT, DELETE, UPDATE (revoked_at) ON parley.api_keys TO parley_app;

-- A request's organisation is known only from its key, so one lookup has to come before any organisation is set.
-- It runs as parley_directory, which may read these columns and no others, and finds a single key by its public part.
CREATE POLICY lookup_by_public_id ON parley.api_keys FOR SELECT TO parley_directory USING (true);
GRANT SELECT (org, key_id, public_id, secret_hash, last_four, name, permissions, created_by_user_id, created_at, expiration_date, revoked_at)
  ON parley.api_keys TO parley_directory;

CREATE FUNCTION parley.find_api_key(wanted text)
RETURNS TABLE (
  org text, key_id text, secret_hash bytea, last_four text, name text, permissions text[],
  created_by_user_id text, created_at timestamptz, expiration_date timestamptz, revoked_at timestamptz
)
LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT k.org, k.key_id, k.secret_hash, k.last_four, k.name, k.permissions,
         k.created_by_user_id, k.created_at, k.expiration_date, k.revoked_at
  FROM parley.api_keys k
  WHERE k.public_id = wanted
$$;

-- A function changes hands only to a role that may create in its schema.
GRANT CREATE ON SCHEMA parley TO parley_directory;
ALTER FUNCTION parley.find_api_key(text) OWNER TO parley_directory;
REVOKE CREATE ON SCHEMA parley FROM parley_directory;

SET LOCAL ROLE parley_directory;
REVOKE ALL ON FUNCTION parley.find_api_key(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION parley.find_api_key(text) TO parley_app;
RESET ROLE;
