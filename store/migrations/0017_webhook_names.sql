-- Which uid the subscription (or agent) of a name had when it was last seen. A resource that is brought back from a backup, or into another cluster, has
-- its name and another uid: what was to be sent to it, and what was sent, is found under the old one.

CREATE TABLE parley.webhook_names (
  org text COLLATE "C" NOT NULL CHECK (char_length(org) BETWEEN 1 AND 63),
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('WebhookSubscription', 'Agent')),
  name text COLLATE "C" NOT NULL CHECK (char_length(name) BETWEEN 1 AND 253),
  subscription_uid text COLLATE "C" NOT NULL CHECK (char_length(subscription_uid) BETWEEN 1 AND 128),
  PRIMARY KEY (org, kind, name)
);

CREATE INDEX webhook_names_by_uid ON parley.webhook_names (subscription_uid);

ALTER TABLE parley.webhook_names ENABLE ROW LEVEL SECURITY;
ALTER TABLE parley.webhook_names FORCE ROW LEVEL SECURITY;
CREATE POLICY delivering ON parley.webhook_names TO parley_dispatcher USING (true) WITH CHECK (true);

GRANT SELECT, INSERT, UPDATE (subscription_uid), DELETE ON parley.webhook_names TO parley_dispatcher;
GRANT UPDATE (subscription_uid) ON parley.deliveries, parley.delivery_attempts TO parley_dispatcher;
GRANT UPDATE (only_subscription, except_subscription) ON parley.events TO parley_dispatcher;
