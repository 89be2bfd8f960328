-- Whether calls are recorded, how long they and their recordings are kept, and which ones were deleted.

-- Without a number of days, what there is stays.
ALTER TABLE parley.organizations
  ADD COLUMN recording_enabled boolean NOT NULL DEFAULT true,
  ADD COLUMN recording_retention_days int CHECK (recording_retention_days BETWEEN 1 AND 36500),
  ADD COLUMN call_retention_days int CHECK (call_retention_days BETWEEN 1 AND 36500);
GRANT UPDATE (recording_enabled, recording_retention_days, call_retention_days) ON parley.organizations TO parley_app;

-- As it was decided when the call was registered; the days are the agent's own, in place of the organisation's.
ALTER TABLE parley.calls
  ADD COLUMN recording_enabled boolean NOT NULL DEFAULT true,
  ADD COLUMN recording_retention_days int CHECK (recording_retention_days BETWEEN 1 AND 36500);

-- What the housekeeping looks through, the oldest first.
CREATE INDEX calls_over ON parley.calls (org, ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX calls_with_recording ON parley.calls (org, ended_at) WHERE recording_key IS NOT NULL;

-- Calls that are gone: what is still found of their recordings, in a spool or in the storage, is deleted as well.
CREATE TABLE parley.deleted_calls (
  org text COLLATE "C" NOT NULL REFERENCES parley.organizations (name),
  call_id text COLLATE "C" NOT NULL,
  deleted_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (org, call_id)
);

ALTER TABLE parley.deleted_calls ENABLE ROW LEVEL SECURITY;
ALTER TABLE parley.deleted_calls FORCE ROW LEVEL SECURITY;
CREATE POLICY own_organization ON parley.deleted_calls TO parley_app
  USING (org = current_setting('parley.org', true)) WITH CHECK (org = current_setting('parley.org', true));
CREATE POLICY leaving ON parley.deleted_calls TO CURRENT_USER USING (org = current_setting('parley.leaving', true));
GRANT SELECT, INSERT, DELETE ON parley.deleted_calls TO parley_app;

-- The events of a call, whose bodies lose what they say of its content when it is deleted.
ALTER TABLE parley.events ADD COLUMN call_id text COLLATE "C" CHECK (char_length(call_id) BETWEEN 1 AND 128);
CREATE INDEX events_of_call ON parley.events (call_id) WHERE call_id IS NOT NULL;
GRANT UPDATE (body) ON parley.event_bodies TO parley_app;
