-- Whom a key acts for: what is made with it records that user. A key that was made by a user before acts for the same one.
ALTER TABLE parley.api_keys ADD COLUMN user_id text CHECK (char_length(user_id) BETWEEN 1 AND 200);
UPDATE parley.api_keys SET user_id = created_by_user_id WHERE created_by_user_id <> '';
GRANT SELECT (user_id) ON parley.api_keys TO parley_directory;

-- Which key a call was made with: a key that may do nothing but make calls sees its own.
ALTER TABLE parley.calls ADD COLUMN created_by_key text COLLATE "C" CHECK (char_length(created_by_key) <= 64);

-- With the user. Another return type makes it another function.
SET LOCAL ROLE parley_directory;
DROP FUNCTION parley.find_api_key(text);
RESET ROLE;
CREATE FUNCTION parley.find_api_key(wanted text)
RETURNS TABLE (
  org text, key_id text, secret_hash bytea, last_four text, name text, permissions text[],
  user_id text, created_by_user_id text, created_at timestamptz, expiration_date timestamptz, revoked_at timestamptz
)
LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
  SELECT k.org, k.key_id, k.secret_hash, k.last_four, k.name, k.permissions,
         k.user_id, k.created_by_user_id, k.created_at, k.expiration_date, k.revoked_at
  FROM parley.api_keys k
  WHERE k.public_id = wanted
$$;

GRANT CREATE ON SCHEMA parley TO parley_directory;
ALTER FUNCTION parley.find_api_key(text) OWNER TO parley_directory;
REVOKE CREATE ON SCHEMA parley FROM parley_directory;

SET LOCAL ROLE parley_directory;
REVOKE ALL ON FUNCTION parley.find_api_key(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION parley.find_api_key(text) TO parley_app;
RESET ROLE;
