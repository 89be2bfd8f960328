-- Phone numbers as calls need them: whose a number is, who answers, who calls from it. Calls go on while the API server is away.

CREATE TABLE parley.phone_routes (
  org text COLLATE "C" NOT NULL REFERENCES parley.organizations (name),
  -- Of the PhoneNumber: its uid, and its name in REST.
  uid text COLLATE "C" NOT NULL CHECK (char_length(uid) BETWEEN 1 AND 128),
  name text COLLATE "C" NOT NULL CHECK (char_length(name) BETWEEN 1 AND 253),
  -- A gateway tells the number and nothing else, so that it is one object's in the whole deployment.
  number text COLLATE "C" NOT NULL UNIQUE CHECK (number ~ '^\+[1-9]\d{1,14}$'),
  provider text NOT NULL CHECK (provider IN ('sip', 'native', 'carrier')),
  -- By name; which revision serves is asked when a call comes.
  inbound_agent text COLLATE "C" CHECK (char_length(inbound_agent) BETWEEN 1 AND 253),
  outbound_agent text COLLATE "C" CHECK (char_length(outbound_agent) BETWEEN 1 AND 253),
  -- What the media server dials through; absent where the number can't call.
  outbound_trunk text COLLATE "C" CHECK (char_length(outbound_trunk) BETWEEN 1 AND 256),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (org, uid)
);

ALTER TABLE parley.phone_routes ENABLE ROW LEVEL SECURITY;
ALTER TABLE parley.phone_routes FORCE ROW LEVEL SECURITY;

CREATE POLICY own_organization ON parley.phone_routes TO parley_app
  USING (org = current_setting('parley.org', true))
  WITH CHECK (org = current_setting('parley.org', true));

GRANT SELECT, INSERT, DELETE, UPDATE (name, provider, inbound_agent, outbound_agent, outbound_trunk, updated_at) ON parley.phone_routes TO parley_app;

-- Whose a number is has to be found before any organisation is set, and a number that another object had is taken from it.
CREATE POLICY whereabouts ON parley.phone_routes FOR SELECT TO parley_directory USING (true);
GRANT SELECT (org, uid, number) ON parley.phone_routes TO parley_directory;

CREATE FUNCTION parley.organization_of_number(wanted text) RETURNS text
LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ SELECT r.org FROM parley.phone_routes r WHERE r.number = wanted $$;

GRANT CREATE ON SCHEMA parley TO parley_directory;
ALTER FUNCTION parley.organization_of_number(text) OWNER TO parley_directory;
REVOKE CREATE ON SCHEMA parley FROM parley_directory;

SET LOCAL ROLE parley_directory;
REVOKE ALL ON FUNCTION parley.organization_of_number(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION parley.organization_of_number(text) TO parley_app;
RESET ROLE;
