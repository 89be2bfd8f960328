-- Which key made a key: what a leaked key has made is found, and revoked with it. No reference: a key is deleted after those that it made.
ALTER TABLE parley.api_keys ADD COLUMN created_by_key text COLLATE "C" CHECK (char_length(created_by_key) <= 64);
CREATE INDEX api_keys_by_maker ON parley.api_keys (org, created_by_key) WHERE created_by_key IS NOT NULL;
