import { expect, it, onTestFinished } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { startProxyOf } from '../../support/tcp-proxy.ts';
import { dispatchHarness, proxiedKubeconfig, settled } from './dispatch-harness.ts';

it('brings every event to every subscription once, and writes that down', async () => {
  const harness = await dispatchHarness();
  const { sink } = harness;
  await Promise.all(['a', 'b', 'c'].map((name) => harness.subscribe(name)));
  await harness.subscribe('other', { events: ['CallHandler.CallEnded'] });
  // Some lie there already when the dispatcher comes.
  const ids = [...(await harness.emit(100))];
  await harness.dispatcher();
  ids.push(...(await harness.emit(100)));
  for (const path of ['/a', '/b', '/c']) await sink.arrived(path, 200);
  await settled(harness, { succeeded: 600 });
  for (const path of ['/a', '/b', '/c']) {
    expect(new Set(sink.ids(path))).toEqual(new Set(ids));
    expect(sink.received(path)).toHaveLength(200);
  }
  expect(sink.received('/other')).toEqual([]);
  expect(await harness.sql('SELECT succeeded, count(*)::int FROM parley.delivery_attempts GROUP BY 1')).toEqual([
    { succeeded: true, count: 600 },
  ]);
  expect(await harness.sql('SELECT FROM parley.outbox')).toEqual([]);
});

it('tries again by itself what is to be tried again within a second, and gives up after as many attempts as were asked for', async () => {
  const harness = await dispatchHarness();
  const { sink } = harness;
  const { metadata } = await harness.subscribe('a', { retryPolicy: { strategy: 'FixedDelay', maxRetries: 3, delay: '50ms' } });
  sink.behave('/a', 500);
  await harness.dispatcher();
  const [id] = await harness.emit(1);
  await settled(harness, { failed: 1 });
  expect(sink.received('/a').map((one) => one.id)).toEqual([id, id, id, id]);
  expect(
    await harness.sql(
      'SELECT number, succeeded, reason, status_code FROM parley.delivery_attempts WHERE subscription_uid = $1 ORDER BY number',
      [metadata.uid],
    ),
  ).toEqual([1, 2, 3, 4].map((number) => ({ number, succeeded: false, reason: 'http_status', status_code: 500 })));
});

it('leaves longer waits to workflows: without Temporal they stand in Postgres, and everything else goes on', async () => {
  const harness = await dispatchHarness();
  const { sink } = harness;
  await harness.subscribe('fails', { retryPolicy: { strategy: 'FixedDelay', maxRetries: 3, delay: '10s' } });
  await harness.subscribe('works');
  sink.behave('/fails', 503);
  const { port } = await harness.dispatcher();
  await harness.emit(15);
  await settled(harness, { retry_pending: 15, succeeded: 15 });
  await eventually(async () => {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`);
    expect([response.status, await response.text()]).toEqual([503, expect.stringContaining('temporal: ')]);
  });
  await harness.emit(15);
  await sink.arrived('/works', 30);
});

it('sends nothing to a subscription that is switched off, and what comes meanwhile can be sent later', async () => {
  const harness = await dispatchHarness();
  const { sink } = harness;
  const { metadata } = await harness.subscribe('a', { suspend: true });
  await harness.subscribe('c');
  await harness.dispatcher();
  await harness.emit(5);
  await sink.arrived('/c', 5);
  await settled(harness, { skipped: 5, succeeded: 5 });
  expect(await harness.deliveries(metadata.uid)).toEqual(
    Array.from({ length: 5 }, () => expect.objectContaining({ state: 'skipped', reason: 'paused', attempts: 0 })),
  );
  await harness.subscribe('a', { suspend: false });
  // The subscription is known to be on again once an event comes through.
  await eventually(async () => {
    await harness.emit(1);
    expect(sink.ids('/a').size).toBeGreaterThan(0);
  });
  expect(
    await harness.store.webhooks.recover({ org: harness.org, subscriptionUid: metadata.uid, since: new Date(0) }),
  ).toBeGreaterThanOrEqual(5);
  await eventually(async () => expect((await harness.states(metadata.uid))['skipped']).toBe(undefined));
  await eventually(() => expect(sink.ids('/a')).toEqual(sink.ids('/c')));
});

it('keeps deliveries while their subscription is switched off in the middle, and goes on when it is on again', async () => {
  const harness = await dispatchHarness();
  const { sink } = harness;
  const answers: (() => void)[] = [];
  sink.behave('/a', (_received, response) => void answers.push(() => response.writeHead(200).end()));
  await harness.subscribe('a', { requestTimeout: '30s' });
  await harness.dispatcher();
  await harness.emit(20);
  await eventually(() => expect(answers).toHaveLength(8));
  await harness.subscribe('a', { requestTimeout: '30s', suspend: true });
  // An event that is skipped shows that the change is known.
  await eventually(async () => {
    await harness.emit(1);
    expect((await harness.states())['skipped']).toBeGreaterThan(0);
  });
  sink.behave('/a', 200);
  for (const answer of answers) answer();
  await eventually(async () => expect(await harness.states()).toMatchObject({ succeeded: 8, paused: 12 }));
  await harness.subscribe('a');
  await eventually(async () => expect(await harness.states()).toMatchObject({ succeeded: 20 }));
});

it('ends what waits for a subscription that is deleted, and goes on with the others', async () => {
  const harness = await dispatchHarness();
  const { sink } = harness;
  const answers: (() => void)[] = [];
  sink.behave('/a', (_received, response) => void answers.push(() => response.writeHead(500).end()));
  const { metadata } = await harness.subscribe('a');
  await harness.subscribe('b');
  await harness.dispatcher();
  await harness.emit(30);
  await eventually(() => expect(answers).toHaveLength(8));
  await harness.unsubscribe('a');
  await settled(harness, { succeeded: 30 }, (await harness.subscribe('b')).metadata.uid);
  await eventually(async () => expect((await harness.states(metadata.uid))['skipped']).toBeGreaterThanOrEqual(22));
  for (const answer of answers) answer();
  await eventually(async () => {
    const rows = await harness.deliveries(metadata.uid);
    expect(rows.filter(({ state }) => state !== 'failed' && state !== 'skipped')).toEqual([]);
    expect(rows).toHaveLength(30);
  });
});

it('waits for a Secret that is missing without holding up anybody, and delivers once it is there', async () => {
  const harness = await dispatchHarness();
  const { sink } = harness;
  const { metadata } = await harness.subscribe('a', { signing: { mode: 'Secret', secretRef: { name: 'keys' } } });
  await harness.subscribe('b');
  await harness.dispatcher();
  await harness.emit(20);
  await sink.arrived('/b', 20);
  expect((await harness.states(metadata.uid))['pending']).toBe(20);
  await harness.secret('keys', { current: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' });
  await sink.arrived('/a', 20);
  expect(sink.received('/a')[0]?.headers['webhook-signature']).toMatch(/^v1,/);
  // Nothing of that was an attempt.
  await settled(harness, { succeeded: 20 }, metadata.uid);
  expect((await harness.deliveries(metadata.uid)).map(({ attempts }) => attempts)).toEqual(Array.from({ length: 20 }, () => 1));
});

it('waits for Postgres at the start and later, says so, and delivers when it is back', async () => {
  const harness = await dispatchHarness();
  const url = new URL(harness.env['DATABASE_URL'] ?? '');
  const proxy = await startProxyOf(url.href);
  onTestFinished(() => proxy.close());
  proxy.cut();
  url.host = `127.0.0.1:${proxy.port}`;
  await harness.subscribe('a');
  const { port } = await harness.dispatcher({ DATABASE_URL: url.href });
  const readiness = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/readyz`)).text();
  await eventually(async () => expect(await readiness()).toContain('postgres: no answer'));
  await harness.emit(10);
  proxy.restore();
  await harness.sink.arrived('/a', 10);
  proxy.cut();
  await harness.emit(10);
  await eventually(async () => expect(await readiness()).toContain('postgres: no answer'));
  proxy.restore();
  await harness.sink.arrived('/a', 20);
  await settled(harness, { succeeded: 20 });
  await eventually(async () => expect(await readiness()).toBe('ok\n'));
});

it('delivers to the subscriptions that it knows while the API server is unavailable', async () => {
  const harness = await dispatchHarness();
  const { kubeconfig, proxy } = await proxiedKubeconfig(harness.env['KUBECONFIG'] ?? '');
  await harness.subscribe('a');
  const { port } = await harness.dispatcher({ KUBECONFIG: kubeconfig });
  await harness.emit(1);
  await harness.sink.arrived('/a', 1);
  proxy.cut();
  await eventually(async () =>
    expect(await (await fetch(`http://127.0.0.1:${port}/readyz`)).text()).toContain('subscriptions: the API server does not answer'),
  );
  await harness.emit(10);
  await harness.sink.arrived('/a', 11);
});

it('finishes what is on its way when it stops, and hands the rest back at once', async () => {
  const harness = await dispatchHarness();
  const { sink } = harness;
  const answers: (() => void)[] = [];
  sink.behave('/a', (_received, response) => void answers.push(() => response.writeHead(200).end()));
  await harness.subscribe('a', { requestTimeout: '30s' });
  const running = await harness.dispatcher({ PARLEY_SHUTDOWN_TIMEOUT_MS: '600000' });
  await harness.emit(40);
  await eventually(() => expect(answers).toHaveLength(8));
  const stopping = running.stop();
  await eventually(async () => {
    const text = await fetch(`http://127.0.0.1:${running.port}/readyz`).then((response) => response.text());
    expect(text).toContain('stopping');
  });
  for (const answer of answers) answer();
  await stopping;
  expect(answers).toHaveLength(8);
  expect(await harness.states()).toEqual({ succeeded: 8, pending: 32 });
  expect(await harness.sql("SELECT FROM parley.deliveries WHERE state = 'pending' AND due_at > now()")).toEqual([]);
  sink.behave('/a', 200);
  await harness.dispatcher();
  await settled(harness, { succeeded: 40 });
  expect(sink.received('/a')).toHaveLength(40);
});
