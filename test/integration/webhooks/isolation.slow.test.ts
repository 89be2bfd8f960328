import { expect, it } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { dispatchHarness, settled } from './dispatch-harness.ts';

it('brings everything to the healthy ones while an endpoint hangs that has thousands of deliveries waiting', async () => {
  const harness = await dispatchHarness();
  const { sink } = harness;
  sink.behave('/hangs', 'hang');
  const { metadata } = await harness.subscribe('hangs', { requestTimeout: '30s' });
  await harness.subscribe('one');
  await harness.subscribe('two');
  // These events come first in every order.
  await harness.emit(1_000);
  await harness.dispatcher();
  await harness.emit(100);
  for (const path of ['/one', '/two']) await sink.arrived(path, 1_100);
  expect(sink.mostInFlight('/hangs')).toBe(8);
  // On a slow machine the first of them have timed out by then.
  const { pending = 0, failed = 0 } = await harness.states(metadata.uid);
  expect(pending + failed).toBe(1_100);
  expect(pending).toBeGreaterThan(1_000);
  const attempts = await harness.sql<{ reason: string }>('SELECT reason FROM parley.delivery_attempts WHERE subscription_uid = $1', [
    metadata.uid,
  ]);
  expect(new Set(attempts.map(({ reason }) => reason))).toEqual(new Set(failed === 0 ? [] : ['timeout']));
  await sink.close();
});

it('leaves slots to those who answer when forty endpoints hang', async () => {
  const harness = await dispatchHarness();
  const { sink } = harness;
  const hanging = Array.from({ length: 40 }, (_, index) => `hangs-${index}`);
  for (const name of hanging) sink.behave(`/${name}`, 'hang');
  await Promise.all(hanging.map((name) => harness.subscribe(name, { requestTimeout: '30s' })));
  await harness.emit(20);
  await harness.dispatcher();
  await eventually(() => {
    for (const name of hanging) expect(sink.inFlight(`/${name}`)).toBeGreaterThan(0);
  });
  await harness.subscribe('healthy');
  // Until the subscription is known, events pass it by.
  await eventually(async () => {
    await harness.emit(1);
    expect(sink.ids('/healthy').size).toBeGreaterThan(0);
  });
  await harness.emit(100);
  await sink.arrived('/healthy', 101);
  await sink.close();
});

it('leaves an endpoint alone that only fails, tries it now and then, and lets its deliveries go on when it is back', async () => {
  const harness = await dispatchHarness();
  const { sink } = harness;
  sink.behave('/down', 500);
  const { metadata } = await harness.subscribe('down', { retryPolicy: { strategy: 'FixedDelay', maxRetries: 10, delay: '0s' } });
  await harness.subscribe('up');
  await harness.dispatcher();
  await harness.emit(300);
  const breaker = async (): Promise<string | undefined> => {
    const rows = await harness.sql<{ breaker: string }>('SELECT breaker FROM parley.webhook_endpoints WHERE subscription_uid = $1', [
      metadata.uid,
    ]);
    return rows[0]?.breaker;
  };
  await eventually(async () => expect(await breaker()).toBe('open'));
  await sink.arrived('/up', 300);
  await eventually(() => expect(sink.inFlight('/down')).toBe(0));
  // The breaker opened long before 300 times eleven attempts.
  const before = sink.received('/down').length;
  expect(before).toBeLessThan(300);
  expect((await harness.states(metadata.uid))['pending']).toBeGreaterThan(250);
  // One delivery is tried: it fails, and nothing else happens.
  await eventually(() => expect(sink.received('/down').length).toBeGreaterThan(before));
  await eventually(async () =>
    expect(await harness.sql('SELECT breaker, opened FROM parley.webhook_endpoints WHERE subscription_uid = $1', [metadata.uid])).toEqual([
      { breaker: 'open', opened: 2 },
    ]),
  );
  // A test is sent at once, and its failure changes nothing.
  await harness.sql(
    "UPDATE parley.webhook_endpoints SET probe_at = now() + interval '1 hour', changed_at = clock_timestamp(), version = version + 1 WHERE subscription_uid = $1",
    [metadata.uid],
  );
  const failing = await harness.test(metadata.uid);
  await eventually(() => expect(sink.ids('/down').has(failing)).toBe(true));
  expect(await breaker()).toBe('open');
  sink.behave('/down', 200);
  await harness.sql(
    'UPDATE parley.webhook_endpoints SET probe_at = now(), changed_at = clock_timestamp(), version = version + 1 WHERE subscription_uid = $1',
    [metadata.uid],
  );
  await eventually(async () => expect((await harness.states(metadata.uid))['pending']).toBe(undefined));
  expect(await breaker()).toBe('closed');
  const rows = await harness.deliveries(metadata.uid);
  // The deliveries are those of the events, and the test.
  expect(rows).toHaveLength(301);
  // Deliveries that the breaker held back had all their attempts still before them.
  expect(rows.filter(({ state }) => state === 'succeeded').length).toBeGreaterThan(250);
});

it('brings everything to an endpoint that refuses whatever it sees for the first time', async () => {
  const harness = await dispatchHarness();
  const { sink } = harness;
  const seen = new Set<unknown>();
  let parked = false;
  sink.behave('/warming-up', ({ headers }, response) => {
    response.statusCode = parked && seen.has(headers['webhook-id']) ? 204 : 500;
    seen.add(headers['webhook-id']);
    response.end();
  });
  const { metadata } = await harness.subscribe('warming-up', {
    retryPolicy: { strategy: 'FixedDelay', maxRetries: 10, delay: '900ms' },
  });
  await harness.emit(100);
  await harness.dispatcher();
  await eventually(async () => expect(await harness.sql("SELECT FROM parley.webhook_endpoints WHERE breaker = 'open'")).toHaveLength(1));
  parked = true;
  // The endpoint got its first answers before most deliveries were ever sent: those that were are what it is tried with.
  await settled(harness, { succeeded: 100 }, metadata.uid);
  await sink.close();
});

it('tries an endpoint again that it left alone although all its deliveries were waiting for Temporal, which is unavailable', async () => {
  const harness = await dispatchHarness();
  const { sink } = harness;
  sink.behave('/down', 500);
  const { metadata } = await harness.subscribe('down', { retryPolicy: { strategy: 'FixedDelay', maxRetries: 10, delay: '1200ms' } });
  await harness.dispatcher();
  // Twenty failures are enough for the breaker, and too few for any to be left over.
  await harness.emit(20);
  await eventually(async () => expect(await harness.sql("SELECT FROM parley.webhook_endpoints WHERE breaker = 'open'")).toHaveLength(1));
  sink.behave('/down', 200);
  await settled(harness, { succeeded: 20 }, metadata.uid);
  // Closing takes fifteen successes; fewer are left where some deliveries were on their way when it opened.
  expect(await harness.sql("SELECT FROM parley.webhook_endpoints WHERE breaker = 'open'")).toHaveLength(0);
});

it('closes the breaker with the address that it was opened for', async () => {
  const harness = await dispatchHarness();
  const { sink } = harness;
  const { metadata } = await harness.subscribe('moved', {}, '/before');
  await harness.dispatcher();
  await harness.emit(1);
  await sink.arrived('/before', 1);
  await harness.sql(
    `UPDATE parley.webhook_endpoints SET breaker = 'open', opened = 9, probe_at = now() + interval '1 hour', version = version + 1, changed_at = clock_timestamp()`,
  );
  await harness.subscribe('moved', {}, '/after');
  await eventually(async () =>
    expect(await harness.sql('SELECT breaker, opened, probe_at FROM parley.webhook_endpoints')).toEqual([
      { breaker: 'closed', opened: 0, probe_at: null },
    ]),
  );
  await harness.emit(5);
  await sink.arrived('/after', 5);
  await settled(harness, { succeeded: 6 }, metadata.uid);
  await sink.close();
});

it('shares the work among two dispatchers and sends nothing twice', async () => {
  const harness = await dispatchHarness();
  const { sink } = harness;
  const names = ['a', 'b', 'c', 'd', 'e'];
  await Promise.all(names.map((name) => harness.subscribe(name)));
  await Promise.all([harness.dispatcher(), harness.dispatcher()]);
  await harness.emit(400, { atOnce: 20 });
  for (const name of names) await sink.arrived(`/${name}`, 400);
  await settled(harness, { succeeded: 2_000 });
  expect(sink.received()).toHaveLength(2_000);
});
