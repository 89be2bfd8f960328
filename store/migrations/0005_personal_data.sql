-- What is taken out of what is stored of calls, and the erasure of all that is known of one person.

-- How many values were taken out, by kind: {"card": 2}. Never a value.
ALTER TABLE parley.calls ADD COLUMN redactions jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(redactions) = 'object');

GRANT UPDATE (redactions) ON parley.calls TO parley_app;
