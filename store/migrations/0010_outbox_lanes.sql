-- Events of one kind (of the same organisation, of the same name, about the same) share a lane of the outbox: where very many of one kind wait, the
-- relay takes a few of each lane, so that those of other kinds don't wait behind them.

ALTER TABLE parley.outbox ADD COLUMN lane smallint NOT NULL DEFAULT 0 CHECK (lane BETWEEN 0 AND 255);

CREATE INDEX outbox_lanes ON parley.outbox (lane, due_at);
