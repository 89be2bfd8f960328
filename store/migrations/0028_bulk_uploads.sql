-- Uploads that can be repeated: an entry of a bulk upload is accepted once, however often it is sent.

-- `key:` and what the client calls the entry, or `sha256:` and the hash of its content; null for what comes one file at a time.
ALTER TABLE parley.documents ADD COLUMN submission_key text COLLATE "C" CHECK (char_length(submission_key) <= 256);

-- What has failed may be sent again, as may what was deleted.
CREATE UNIQUE INDEX documents_by_submission ON parley.documents (org, collection_id, submission_key)
  WHERE submission_key IS NOT NULL AND deleted_at IS NULL AND status <> 'failed';

-- For content that came one file at a time.
CREATE INDEX documents_by_content ON parley.documents (org, collection_id, sha256)
  WHERE sha256 IS NOT NULL AND deleted_at IS NULL AND status <> 'failed';
