import { expect, it } from 'vitest';

import { dispatchHarness, settled } from './dispatch-harness.ts';

it('brings every event to every subscription once, and writes that down', async () => {
  const harness = await dispatchHarness();
  const { sink } = harness;
  const subscriptions = await Promise.all(['a', 'b', 'c'].map((name) => harness.subscribe(name)));
  await harness.dispatcher();
  const ids = await harness.emit(200);
  for (const path of ['/a', '/b', '/c']) await sink.arrived(path, 200);
  await settled(harness, { succeeded: 600 });
  for (const path of ['/a', '/b', '/c']) {
    expect(new Set(sink.ids(path))).toEqual(new Set(ids));
    expect(sink.received(path)).toHaveLength(200);
  }
  expect(subscriptions).toHaveLength(3);
});
