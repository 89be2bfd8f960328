-- What was answered to requests with an Idempotency-Key, so that a client that has lost the answer gets it again and nothing is made twice.
CREATE TABLE parley.idempotent_requests (
  org text COLLATE "C" NOT NULL REFERENCES parley.organizations (name),
  -- The API key that sent it, and what the client calls the request.
  api_key_id text COLLATE "C" NOT NULL CHECK (char_length(api_key_id) BETWEEN 1 AND 64),
  key text COLLATE "C" NOT NULL CHECK (char_length(key) BETWEEN 1 AND 200),
  -- SHA-256 of its method, address and body.
  fingerprint bytea NOT NULL CHECK (octet_length(fingerprint) = 32),
  made_at timestamptz(3) NOT NULL DEFAULT now(),
  -- Until then somebody carries it out; if there is no answer by then, it may be carried out again.
  claimed_until timestamptz(3) NOT NULL,
  -- Encrypted: whoever has the API key can read it, and nobody else.
  answer bytea CHECK (octet_length(answer) <= 4194304),
  PRIMARY KEY (org, api_key_id, key)
);

CREATE INDEX idempotent_requests_by_age ON parley.idempotent_requests (org, made_at);

ALTER TABLE parley.idempotent_requests ENABLE ROW LEVEL SECURITY;
ALTER TABLE parley.idempotent_requests FORCE ROW LEVEL SECURITY;
CREATE POLICY own_organization ON parley.idempotent_requests TO parley_app
  USING (org = current_setting('parley.org', true)) WITH CHECK (org = current_setting('parley.org', true));
CREATE POLICY leaving ON parley.idempotent_requests TO CURRENT_USER USING (org = current_setting('parley.leaving', true));
GRANT SELECT, INSERT, UPDATE, DELETE ON parley.idempotent_requests TO parley_app;
