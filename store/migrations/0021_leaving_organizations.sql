-- An organisation that leaves takes its rows along. No role of the platform may delete all of them, events for one: the owner of the tables
-- may, those of the organisation that the transaction names. Reservations of phone numbers outlive their organisation.
DO $$
DECLARE
  name text;
BEGIN
  FOR name IN
    SELECT relname FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attname = 'org'
    WHERE relnamespace = 'parley'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition AND relname <> 'number_claims'
  LOOP
    EXECUTE format('CREATE POLICY leaving ON parley.%I TO CURRENT_USER USING (org = current_setting(''parley.leaving'', true))', name);
  END LOOP;
END
$$;

CREATE POLICY leaving ON parley.organizations TO CURRENT_USER USING (name = current_setting('parley.leaving', true));
