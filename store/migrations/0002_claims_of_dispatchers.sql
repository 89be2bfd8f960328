-- A claim has an owner: who dies is known at once by the lock that its session held, and its deliveries needn't wait for their time.

-- The advisory lock of the dispatcher that has claimed it (`store/webhooks/claim-owner.ts`); NULL where nobody has, or nobody whose death would be seen.
ALTER TABLE parley.deliveries ADD COLUMN dispatcher int;

GRANT UPDATE (dispatcher) ON parley.deliveries TO parley_dispatcher;
