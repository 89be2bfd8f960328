-- What 0018 and 0030 changed in no row where the owner of the tables is no superuser: it sees their rows only without FORCE.
ALTER TABLE parley.collections NO FORCE ROW LEVEL SECURITY;
UPDATE parley.collections SET average_length = DEFAULT WHERE average_length = 0;
ALTER TABLE parley.collections FORCE ROW LEVEL SECURITY;

ALTER TABLE parley.api_keys NO FORCE ROW LEVEL SECURITY;
-- A younger key has the user that it was made for, or none on purpose.
UPDATE parley.api_keys SET user_id = created_by_user_id
WHERE user_id IS NULL AND created_by_user_id <> '' AND created_at < (SELECT applied_at FROM parley.schema_migrations WHERE version = 18);
ALTER TABLE parley.api_keys FORCE ROW LEVEL SECURITY;
