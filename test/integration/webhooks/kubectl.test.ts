/** People steer subscriptions with kubectl, while deliveries are under way. */
import { createHmac } from 'node:crypto';

import { expect, it, onTestFinished } from 'vitest';

import { webhookSubscriptionKind, wellKnown, type WebhookSubscription } from '../../../crds/index.ts';
import { createInformer, createTransport, KubeError, loadKubeConfig, ResourceClient, type KubeObject } from '../../../kube/index.ts';
import { generateSigningKey } from '../../../webhooks/signing/signing-keys.ts';
import { controlPlane } from '../../support/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import type { ReceivedWebhook } from '../../support/webhook-sink.ts';
import { settled } from './dispatch-harness.ts';
import { retryHarness, type RetryHarness } from './retry-harness.ts';

type Secret = KubeObject & { readonly data: Readonly<Record<string, string>> };

async function clients() {
  const { kubeconfig } = await controlPlane();
  const transport = createTransport({ kubeConfig: loadKubeConfig({ path: kubeconfig }) });
  onTestFinished(() => transport.close());
  const { descriptor } = webhookSubscriptionKind;
  return {
    subscriptions: new ResourceClient<WebhookSubscription>({ transport, descriptor, fieldManager: 'kubectl' }),
    secrets: new ResourceClient<Secret>({
      transport,
      descriptor: { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true },
      fieldManager: 'kubectl',
    }),
  };
}

const keep = { retryPolicy: { strategy: 'FixedDelay', maxRetries: 10, delay: '10s' }, requestTimeout: '30s' };

/** Lets the next status be written now, as if the last one had been written long ago. */
const letStatusBeWritten = (harness: RetryHarness): Promise<unknown> =>
  harness.sql(`UPDATE parley.webhook_endpoints SET status_written_at = status_written_at - interval '31 seconds'`);

it('lets retries wait while a subscription is paused, and go on when it is resumed', async () => {
  const harness = await retryHarness();
  const { sink } = harness;
  const { metadata } = await harness.subscribe('a', keep);
  sink.behave('/a', 500);
  await Promise.all([harness.dispatcher(), harness.worker()]);
  const [first] = await harness.emit(1);
  await settled(harness, { retrying: 1 });
  await harness.subscribe('a', { ...keep, suspend: true });
  await settled(harness, { paused: 1 });
  const before = (await harness.attempts(metadata.uid)).length;
  // Meanwhile events are only recorded.
  await harness.emit(3);
  await settled(harness, { paused: 1, skipped: 3 });
  expect((await harness.deliveries()).filter(({ state }) => state === 'skipped').map(({ reason }) => reason)).toEqual(
    Array(3).fill('paused'),
  );

  sink.behave('/a', 200);
  await harness.subscribe('a', keep);
  await settled(harness, { succeeded: 1, skipped: 3 });
  const attempts = await harness.attempts(metadata.uid);
  expect(attempts.map(({ number, succeeded }) => [number, succeeded])).toEqual(
    Array.from({ length: before + 1 }, (_, index) => [index + 1, index === before]),
  );
  expect(sink.ids('/a')).toEqual(new Set([first]));
});

it('lets what waits for a parked endpoint wait as paused, so that nothing is late, and go on with it', async () => {
  const harness = await retryHarness();
  await harness.subscribe('a', keep);
  await Promise.all([harness.dispatcher(), harness.worker()]);
  await harness.emit(1);
  await settled(harness, { succeeded: 1 });
  const breaker = (state: string): Promise<unknown> =>
    harness.sql(
      `UPDATE parley.webhook_endpoints SET breaker = '${state}', opened = 1, probe_at = now() + interval '1 hour', version = version + 1, changed_at = clock_timestamp()`,
    );
  await breaker('open');
  await eventually(async () => {
    await harness.emit(1);
    expect((await harness.deliveries()).filter(({ state }) => state === 'pending').length).toBeGreaterThan(2);
  });
  // An event that is relayed to a paused subscription is skipped.
  await eventually(async () => expect(await harness.sql('SELECT FROM parley.outbox')).toEqual([]));
  await harness.subscribe('a', { ...keep, suspend: true });
  const count = (await harness.deliveries()).length;
  const done = (await harness.deliveries()).filter(({ state }) => state === 'succeeded').length;
  await settled(harness, { succeeded: done, paused: count - done });
  await breaker('closed');
  await harness.subscribe('a', keep);
  await settled(harness, { succeeded: count });
});

const signatures = ({ headers }: ReceivedWebhook): readonly string[] => String(headers['webhook-signature'] ?? '').split(' ');
const signature = (key: string, { headers, body }: ReceivedWebhook): string =>
  `v1,${createHmac('sha256', Buffer.from(key.slice(6), 'base64'))
    .update(`${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.`)
    .update(body)
    .digest('base64')}`;

it('signs with what the Secret holds: the new key at once, the former one for as long as it is in there', async () => {
  const harness = await retryHarness();
  const { org, sink } = harness;
  const { secrets } = await clients();
  const [one, two] = [generateSigningKey(), generateSigningKey()];
  const write = (keys: Readonly<Record<string, string>>) => {
    const data = Object.fromEntries(Object.entries(keys).map(([name, key]) => [name, Buffer.from(key).toString('base64')]));
    return secrets.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { namespace: org, name: 'keys' }, data }, { force: true });
  };
  await write({ current: one });
  await harness.subscribe('a', { ...keep, signing: { mode: 'Secret', secretRef: { name: 'keys' } } });
  await Promise.all([harness.dispatcher(), harness.worker()]);
  /** Emits until a delivery is signed with exactly these keys. */
  const signedWith = (...keys: readonly string[]) =>
    eventually(async () => {
      const [id] = await harness.emit(1);
      await sink.arrived('/a', sink.ids('/a').size + 1);
      const received = sink.received('/a').find((each) => each.id === id)!;
      expect(signatures(received)).toEqual(keys.map((key) => signature(key, received)));
    });
  await signedWith(one);
  // A delivery that is being tried again meanwhile goes out under the new key, too.
  let rotated = false;
  sink.behave('/a', (received, response) => {
    const ends = rotated && signatures(received).length === 2;
    response.writeHead(ends ? 200 : 500).end();
  });
  const [waiting] = await harness.emit(1);
  await eventually(() => expect(sink.ids('/a').has(waiting!)).toBe(true));
  rotated = true;
  await write({ current: two, 'previous-1': one });
  await signedWith(two, one);
  await eventually(() => {
    const last = sink.received('/a').findLast(({ id }) => id === waiting)!;
    expect(signatures(last)).toEqual([signature(two, last), signature(one, last)]);
  });
  sink.behave('/a', 200);
  await write({ current: two });
  await signedWith(two);
});

it('ends everything that waits for a subscription that is deleted', async () => {
  const harness = await retryHarness();
  const { org, sink } = harness;
  const { subscriptions } = await clients();
  const { metadata } = await harness.subscribe('a', { ...keep, retryPolicy: { ...keep.retryPolicy, delay: '1h' } });
  await harness.subscribe('b');
  await Promise.all([harness.dispatcher(), harness.worker()]);
  sink.behave('/a', 500);
  await harness.emit(3);
  await settled(harness, { retrying: 3 }, metadata.uid);
  const answers: (() => void)[] = [];
  sink.behave('/a', (_received, response) => void answers.push(() => response.writeHead(500).end()));
  await harness.emit(20);
  await eventually(() => expect(answers).toHaveLength(8));

  await harness.unsubscribe('a');
  await expect(subscriptions.get({ namespace: org, name: 'a' })).rejects.toBeInstanceOf(KubeError);
  await settled(harness, { skipped: 23 }, metadata.uid);
  expect(new Set((await harness.deliveries(metadata.uid)).map(({ reason }) => reason))).toEqual(new Set(['subscription_deleted']));
  // A delivery that was on its way counts when it ends, and changes nothing.
  for (const answer of answers) answer();
  await eventually(async () => {
    expect(sink.inFlight('/a')).toBe(0);
    expect(await harness.attempts(metadata.uid)).toHaveLength(3 + 8);
    expect(await harness.sql('SELECT FROM parley.webhook_endpoints WHERE subscription_uid = $1', [metadata.uid])).toEqual([]);
  });
  await settled(harness, { skipped: 23 }, metadata.uid);
  // No other subscription was affected.
  expect(sink.ids('/b').size).toBe(23);
});

it('disables a subscription that answers 410, notifies the others, shows it, and switches it on again when it is edited', async () => {
  const harness = await retryHarness();
  const { org, sink } = harness;
  const { subscriptions } = await clients();
  const { metadata } = await harness.subscribe('a', keep);
  await harness.subscribe('b');
  await Promise.all([harness.dispatcher(), harness.worker()]);
  sink.behave('/a', 410);
  await harness.emit(1);
  await settled(harness, { failed: 1 }, metadata.uid);
  const notice = await eventually(() => {
    const found = sink.received('/b').map(({ body }) => JSON.parse(body.toString()) as Record<string, unknown>);
    const event = found.find(({ eventName }) => eventName === 'Webhook.SubscriptionDisabled');
    expect(event).toBeDefined();
    return event!;
  });
  expect(notice['payload']).toEqual({ subscription_id: 'a', reason: 'the endpoint answered 410 Gone' });
  expect(sink.received('/a')).toHaveLength(1);
  const { status } = await eventually(async () => {
    const found = await subscriptions.get({ namespace: org, name: 'a' });
    expect(found.status?.autoDisabled?.reason).toBe('the endpoint answered 410 Gone');
    return found;
  });
  expect(status).toMatchObject({ lastFailureAt: expect.any(String) });
  await harness.emit(2);
  await settled(harness, { failed: 1, skipped: 2 }, metadata.uid);

  sink.behave('/a', 200);
  await harness.subscribe('a', { ...keep, description: 'mended' });
  await eventually(async () => {
    const [row] = await harness.sql<{ disabled_at: Date | null }>(
      'SELECT disabled_at FROM parley.webhook_endpoints WHERE subscription_uid = $1',
      [metadata.uid],
    );
    expect(row?.disabled_at).toBeNull();
  });
  await eventually(async () => {
    const [id] = await harness.emit(1);
    await eventually(() => expect(sink.ids('/b').has(id!)).toBe(true));
    expect(sink.ids('/a').has(id!)).toBe(true);
  });
  await eventually(async () =>
    expect(
      await harness.sql('SELECT FROM parley.webhook_endpoints WHERE last_success_at IS NOT NULL AND subscription_uid = $1', [metadata.uid]),
    ).toHaveLength(1),
  );
  await letStatusBeWritten(harness);
  await eventually(async () => {
    const found = await subscriptions.get({ namespace: org, name: 'a' });
    expect(found.status?.autoDisabled).toBeUndefined();
    expect(found.status?.lastSuccessAt).toBeDefined();
  });
});

it('switches a subscription on again when a reconcile is requested, with the spec as it was', async () => {
  const harness = await retryHarness();
  const { org, sink } = harness;
  const { subscriptions } = await clients();
  const { metadata } = await harness.subscribe('a', keep);
  const disabled = () =>
    harness.sql('SELECT FROM parley.webhook_endpoints WHERE disabled_at IS NOT NULL AND subscription_uid = $1', [metadata.uid]);
  const request = async (at: Date): Promise<void> => {
    const annotations = { [wellKnown.reconcileRequestedAt]: at.toISOString() };
    await subscriptions.mergePatch(await subscriptions.get({ namespace: org, name: 'a' }), { metadata: { annotations } });
  };
  // A request from before it was switched off is not one to switch it on again.
  await request(new Date(Date.now() - 60_000));
  await harness.dispatcher();
  sink.behave('/a', 410);
  await harness.emit(1);
  await settled(harness, { failed: 1 });
  expect(await disabled()).toHaveLength(1);
  await harness.emit(1);
  await settled(harness, { failed: 1, skipped: 1 });
  sink.behave('/a', 200);
  await request(new Date(Date.now() + 60_000));
  await eventually(async () => expect(await disabled()).toEqual([]));
  await harness.emit(1);
  await settled(harness, { failed: 1, skipped: 1, succeeded: 1 });
  expect((await subscriptions.get({ namespace: org, name: 'a' })).metadata.generation).toBe(metadata.generation);
});

it('switches a subscription off that has done nothing but fail for five days', async () => {
  const harness = await retryHarness();
  const { metadata } = await harness.subscribe('a', { retryPolicy: { maxRetries: 0 } });
  harness.sink.behave('/a', 500);
  await harness.dispatcher();
  await harness.emit(1);
  await settled(harness, { failed: 1 });
  await harness.sql(
    `UPDATE parley.webhook_endpoints SET failing_since = now() - interval '5 days', failure_slots = 2, last_failure_slot = last_failure_slot - 1`,
  );
  await harness.emit(1);
  await settled(harness, { failed: 2 });
  await eventually(async () => {
    const [row] = await harness.sql<{ reason: string }>(
      'SELECT disabled_reason AS reason FROM parley.webhook_endpoints WHERE subscription_uid = $1',
      [metadata.uid],
    );
    expect(row?.reason).toMatch(/^nothing but failures in 5 days, since /);
  });
});

it('counts no failures of the former address once a subscription has another one', async () => {
  const harness = await retryHarness();
  const { sink } = harness;
  await harness.subscribe('moved', { retryPolicy: { maxRetries: 0 } }, '/before');
  for (const path of ['/before', '/after']) sink.behave(path, 500);
  await harness.dispatcher();
  await harness.emit(1);
  await settled(harness, { failed: 1 });
  await harness.sql(
    `UPDATE parley.webhook_endpoints SET consecutive_failures = 99, failing_since = now() - interval '5 days', failure_slots = 3`,
  );
  await harness.subscribe('moved', { retryPolicy: { maxRetries: 0 } }, '/after');
  const counted = () =>
    harness.sql(
      `SELECT consecutive_failures AS failures, failure_slots AS slots, failing_since > now() - interval '1 hour' AS lately FROM parley.webhook_endpoints`,
    );
  await eventually(async () => expect(await counted()).toEqual([{ failures: 0, slots: 0, lately: null }]));
  await harness.emit(1);
  await settled(harness, { failed: 2 });
  expect(await counted()).toEqual([{ failures: 1, slots: 1, lately: true }]);
});

it('writes the status of a subscription once in 30 s, and mere times once in 5 minutes, however much happens and whichever dispatcher delivers', async () => {
  const harness = await retryHarness();
  const { org, sink } = harness;
  const { subscriptions } = await clients();
  const { metadata } = await harness.subscribe('a');
  const { uid } = metadata;
  const mark = await harness.subscribe('mark');
  const writes = new Set<string>();
  let marked: string | undefined;
  const informer = createInformer<WebhookSubscription>({ client: subscriptions, namespace: org, transform: (object) => object });
  informer.onChange(({ object }) => {
    const entry = object.metadata.managedFields?.find(({ manager }) => manager === 'parley-dispatcher');
    expect([undefined, 'status']).toContain(entry?.subresource);
    if (entry === undefined) return;
    if (object.metadata.name === 'mark') marked = object.status?.lastFailureAt;
    else writes.add(JSON.stringify(object.status));
  });
  informer.start();
  onTestFinished(() => informer.stop());
  await Promise.all([harness.dispatcher(), harness.dispatcher()]);
  await harness.emit(5);
  await settled(harness, { succeeded: 5 }, uid);
  await eventually(() => expect(writes.size).toBeGreaterThan(0));
  // From here on the last write is never 30 s ago, however slow this machine is.
  const change = (what: string): Promise<unknown> =>
    harness.sql(`UPDATE parley.webhook_endpoints SET ${what} WHERE subscription_uid = $1`, [uid]);
  await change(`status_written_at = now() + interval '1 hour'`);
  const written = writes.size;
  for (const [round, behaviour] of [500, 200, 500, 200].entries()) {
    sink.behave('/a', behaviour);
    await harness.emit(5);
    await settled(harness, { succeeded: 5 * Math.floor(1 + (round + 1) / 2), failed: 5 * Math.ceil((round + 1) / 2) }, uid);
  }
  await change(`changed_at = now() + interval '2 hours'`);
  let marks = 0;
  // Of three looks by two dispatchers one begins after another one has ended.
  const lookTwice = async (): Promise<void> => {
    for (const last = marks + 3; marks < last;) {
      marks += 1;
      const failureAt = `2026-11-21T08:00:0${marks}Z`;
      await harness.sql(
        `UPDATE parley.webhook_endpoints SET last_failure_at = $2, status_written_at = NULL, changed_at = clock_timestamp() WHERE subscription_uid = $1`,
        [mark.metadata.uid, failureAt],
      );
      await eventually(() => expect(marked).toBe(failureAt));
    }
  };
  await lookTwice();
  expect(writes.size).toBe(written);
  // Times alone are written 5 minutes later, and not after half a minute.
  const due = (interval: string) => change(`status_written_at = now() - interval '${interval}', changed_at = now()`);
  await due('31 seconds');
  await lookTwice();
  expect(writes.size).toBe(written);
  await due('301 seconds');
  await eventually(() => expect(writes.size).toBe(written + 1));
  const { status } = await subscriptions.get({ namespace: org, name: 'a' });
  const [row] = await harness.sql<{ success: Date; failure: Date }>(
    'SELECT last_success_at AS success, last_failure_at AS failure FROM parley.webhook_endpoints WHERE subscription_uid = $1',
    [metadata.uid],
  );
  const seconds = (date: Date | undefined): string => `${date?.toISOString().slice(0, 19)}Z`;
  expect(status).toMatchObject({ lastSuccessAt: seconds(row?.success), lastFailureAt: seconds(row?.failure) });
  await harness.sql(
    `UPDATE parley.webhook_endpoints SET breaker = 'open', opened = 1, probe_at = now() + interval '1 hour', version = version + 1, changed_at = clock_timestamp()`,
  );
  await letStatusBeWritten(harness);
  await eventually(async () => {
    const found = await subscriptions.get({ namespace: org, name: 'a' });
    expect(found.status?.circuitBreaker?.state).toBe('Open');
  });
});
