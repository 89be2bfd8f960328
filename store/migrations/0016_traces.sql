-- In the course of which trace a call was registered and an event came to be (W3C Trace Context): what is done about them later belongs to it. NULL
-- where nobody traces. An event's goes with its body: whoever sends the one reads the other, and neither is needed for longer.

ALTER TABLE parley.event_bodies ADD COLUMN traceparent text COLLATE "C" CHECK (char_length(traceparent) = 55);
ALTER TABLE parley.calls ADD COLUMN traceparent text COLLATE "C" CHECK (char_length(traceparent) = 55);

-- Analyses are begun by whoever looks for those that are due, across organisations.
GRANT SELECT (traceparent) ON parley.calls TO parley_directory;
