-- The media server tells of rooms. Which call a room is of has to be found before any organisation is set.
CREATE FUNCTION parley.call_of_room(wanted text) RETURNS TABLE (org text, id text)
LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ SELECT c.org, c.id FROM parley.calls c WHERE c.room = wanted $$;

GRANT CREATE ON SCHEMA parley TO parley_directory;
ALTER FUNCTION parley.call_of_room(text) OWNER TO parley_directory;
REVOKE CREATE ON SCHEMA parley FROM parley_directory;

SET LOCAL ROLE parley_directory;
REVOKE ALL ON FUNCTION parley.call_of_room(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION parley.call_of_room(text) TO parley_app;
RESET ROLE;
