/** Subscriptions come back under another uid: from a backup, or in another cluster. */
import { expect, it } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { dispatchHarness, settled, type DispatchHarness } from './dispatch-harness.ts';

const named = (harness: DispatchHarness, expected: Readonly<Record<string, string>>): Promise<void> =>
  eventually(async () => {
    const rows = await harness.sql<{ name: string; uid: string }>(
      'SELECT name, subscription_uid AS uid FROM parley.webhook_names WHERE org = $1',
      [harness.org],
    );
    expect(Object.fromEntries(rows.map(({ name, uid }) => [name, uid]))).toEqual(expected);
  });

it('those that are back after an unnoticed deletion have their deliveries again: none is lost, and none is sent twice', async () => {
  const harness = await dispatchHarness();
  const [{ metadata: before }, { metadata: offBefore }] = [
    await harness.subscribe('orders', { events: ['CallHandler.CallStarted'] }),
    await harness.subscribe('off', { events: ['CallHandler.CallEnded'] }),
  ];
  const first = await harness.dispatcher();
  const sent = await harness.emit(3);
  await settled(harness, { succeeded: 3 }, before.uid);
  await named(harness, { orders: before.uid, off: offBefore.uid });
  await first.stop();
  // A backup may be made in this state: one event was relayed and not delivered yet, and an endpoint had switched itself off.
  const [pending = ''] = sent;
  await harness.sql("UPDATE parley.deliveries SET state = 'pending', ended_at = NULL, due_at = now(), attempts = 0 WHERE event_id = $1", [
    pending.slice('evt_'.length),
  ]);
  await harness.sql("DELETE FROM parley.delivery_attempts WHERE delivery_id = (SELECT id FROM parley.deliveries WHERE state = 'pending')");
  await harness.sql(
    `INSERT INTO parley.webhook_endpoints (subscription_uid, org, disabled_at, disabled_reason, disabled_generation) VALUES ($1, $2, now(), 'gone', 7)`,
    [offBefore.uid, harness.org],
  );
  harness.sink.clear();

  await harness.unsubscribe('orders');
  await harness.unsubscribe('off');
  const { metadata: after } = await harness.subscribe('orders', { events: ['CallHandler.CallStarted'] });
  const { metadata: offAfter } = await harness.subscribe('off', { events: ['CallHandler.CallEnded'] });
  expect(after.uid).not.toBe(before.uid);
  const waiting = await harness.emit(2);
  await harness.dispatcher();
  await settled(harness, { succeeded: 5 }, after.uid);
  await named(harness, { orders: after.uid, off: offAfter.uid });
  expect(await harness.deliveries(before.uid)).toEqual([]);
  expect(await harness.sql('SELECT count(*)::int AS n FROM parley.delivery_attempts WHERE subscription_uid = $1', [after.uid])).toEqual([
    { n: 5 },
  ]);
  const received = harness.sink.received().map(({ id }) => id);
  expect(received.toSorted()).toEqual([pending, ...waiting].toSorted());

  // The endpoint stays switched off, until its resource is changed as it is now.
  const off = () =>
    harness.sql(
      'SELECT subscription_uid AS uid, disabled_reason AS reason, disabled_generation::int AS generation FROM parley.webhook_endpoints WHERE disabled_at IS NOT NULL',
    );
  expect(await off()).toEqual([{ uid: offAfter.uid, reason: 'gone', generation: offAfter.generation }]);
  await harness.subscribe('off', { events: ['CallHandler.CallUpdated'] });
  await eventually(async () => expect(await off()).toEqual([]));

  // A subscription that is seen to be deleted has no successor.
  await harness.unsubscribe('orders');
  await named(harness, { off: offAfter.uid });
  const { metadata: third } = await harness.subscribe('orders', { events: ['CallHandler.CallStarted'] });
  await harness.emit(1);
  await settled(harness, { succeeded: 1 }, third.uid);
  await named(harness, { orders: third.uid, off: offAfter.uid });
  expect(await harness.states(after.uid)).toEqual({ succeeded: 5 });
});
