-- Organisations. The name is the name of the Kubernetes namespace; the row exists so that other rows can refer to it.
-- The roles parley_app (every tenant query) and parley_directory (names across organisations) are made before the first migration.

GRANT USAGE ON SCHEMA parley TO parley_app, parley_directory;
GRANT SELECT ON parley.schema_migrations TO parley_app;

CREATE TABLE parley.organizations (
  name text COLLATE "C" PRIMARY KEY CHECK (name ~ '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$'),
  display_name text NOT NULL DEFAULT '' CHECK (char_length(display_name) <= 200),
  created_at timestamptz(3) NOT NULL DEFAULT now()
);

ALTER TABLE parley.organizations ENABLE ROW LEVEL SECURITY;
ALTER TABLE parley.organizations FORCE ROW LEVEL SECURITY;

CREATE POLICY own_organization ON parley.organizations TO parley_app
  USING (name = current_setting('parley.org', true))
  WITH CHECK (name = current_setting('parley.org', true));

CREATE POLICY names_of_all ON parley.organizations FOR SELECT TO parley_directory USING (true);

GRANT SELECT, INSERT, UPDATE (display_name) ON parley.organizations TO parley_app;
GRANT SELECT ON parley.organizations TO parley_directory;
