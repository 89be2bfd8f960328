import { expect, it } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { dispatchHarness, settled } from './dispatch-harness.ts';

it('loses nothing when dispatchers are killed in the middle of their work, and repeats no more than what was on its way', async () => {
  const harness = await dispatchHarness();
  const { sink } = harness;
  const names = Array.from({ length: 10 }, (_, index) => `s${index}`);
  // Leases last as long: a held delivery must not be late before its dispatcher is killed. Nobody waits for the claims of a dead one.
  await Promise.all(names.map((name) => harness.subscribe(name, { requestTimeout: '30s' })));
  let untilAnswered = Infinity;
  for (const name of names) {
    // The last ones of a round are on their way when its dispatcher is killed.
    sink.behave(`/${name}`, (_received, response) => void (sink.received().length <= untilAnswered && response.writeHead(200).end()));
  }
  const ids = await harness.emit(500);
  const kills = 3;
  for (let round = 1; round <= kills; round += 1) {
    untilAnswered = sink.received().length + 300;
    const dispatcher = await harness.process();
    await eventually(() => expect(sink.received().length).toBeGreaterThan(untilAnswered + 30), 5);
    await dispatcher.kill();
  }
  untilAnswered = Infinity;
  await harness.dispatcher();
  for (const name of names) await sink.arrived(`/${name}`, 500);
  await settled(harness, { succeeded: 5_000 });
  for (const name of names) expect(new Set(sink.ids(`/${name}`))).toEqual(new Set(ids));
  // The rest were on their way: sent, and not yet written down.
  expect(sink.received().length - 5_000).toBeLessThanOrEqual(kills * 256);
  // An attempt that a crash cut off was none.
  expect(await harness.sql('SELECT count(*)::int AS count, max(number) AS most FROM parley.delivery_attempts')).toEqual([
    { count: 5_000, most: 1 },
  ]);
});
