import { expect, it, onTestFinished } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { dispatchHarness, proxiedKubeconfig } from './dispatch-harness.ts';

it('brings an event to a subscription that was written right before it, every time', async () => {
  const harness = await dispatchHarness();
  const { sink, org, store } = harness;
  await harness.dispatcher();
  const rounds = 60;
  const events: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const { metadata } = await harness.subscribe(`s${round}`);
    await store.webhooks.raiseWatermark(org, { subscriptions: metadata.resourceVersion });
    events.push(...(await harness.emit(1)));
  }
  // Each subscription gets the event right behind it, and all later ones.
  await eventually(() => {
    for (let round = 0; round < rounds; round += 1)
      expect([...sink.ids(`/s${round}`)]).toEqual(expect.arrayContaining(events.slice(round)));
  });
});

it('brings an event to a subscription that was switched on again right before it, every time', async () => {
  const harness = await dispatchHarness();
  const { org, store } = harness;
  const { metadata } = await harness.subscribe('a');
  await harness.dispatcher();
  /** Emits an event and returns how its delivery ends. */
  const emitted = async (): Promise<string> => {
    const [id] = await harness.emit(1);
    return eventually(async () => {
      const state = (await harness.deliveries()).find((row) => `evt_${row.event_id}` === id)?.state;
      if (state !== 'succeeded' && state !== 'skipped') throw new Error(`the delivery is ${state}`);
      return state;
    });
  };
  const subscription = { org, subscriptionUid: metadata.uid };
  for (let round = 0; round < 5; round += 1) {
    await store.webhooks.disable({ ...subscription, reason: 'gone', generation: metadata.generation });
    await eventually(async () => expect(await emitted()).toBe('skipped'));
    await store.webhooks.enable(subscription);
    expect(await emitted()).toBe('succeeded');
  }
});

it('keeps the events of an organisation whose new subscription it does not know, and delivers those of others', async () => {
  const harness = await dispatchHarness();
  const { kubeconfig, proxy } = await proxiedKubeconfig(harness.env['KUBECONFIG'] ?? '');
  const { sink, store, org } = harness;
  await harness.subscribe('old');
  const other = await harness.organization();
  await other.subscribe('theirs');
  await harness.dispatcher({ KUBECONFIG: kubeconfig });
  await harness.emit(1);
  await sink.arrived('/old', 1);
  proxy.stall();
  onTestFinished(() => proxy.restore());
  const { metadata } = await harness.subscribe('new');
  await store.webhooks.raiseWatermark(org, { subscriptions: metadata.resourceVersion });
  await harness.emit(5);
  await other.emit(5);
  await sink.arrived('/theirs', 5);
  expect([sink.ids('/old').size, sink.ids('/new').size]).toEqual([1, 0]);
  expect(await harness.sql('SELECT org FROM parley.outbox')).toEqual(Array.from({ length: 5 }, () => ({ org })));
  proxy.restore();
  await sink.arrived('/new', 5);
  await sink.arrived('/old', 6);
  await eventually(async () => expect(await harness.sql('SELECT FROM parley.outbox')).toEqual([]));
});
