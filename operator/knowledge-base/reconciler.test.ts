import { expect, it } from 'vitest';

import type { ObjectChanges } from '../../store/object-changes.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { followDocuments } from './reconciler.ts';

it('reconciles a knowledge base once in two seconds, however many of its documents change, and a large one less often', async () => {
  const clock = new FakeClock();
  const reconciled: string[] = [];
  let stale = 0;
  let documents = 1_400;
  let listener: ObjectChanges | undefined;
  const stop = followDocuments(
    {
      clock,
      cache: { stale: () => void (stale += 1), documentsOf: () => documents, clear: () => undefined },
      changes: {
        listen: (changes) => {
          listener = changes;
          return { stop: async () => undefined };
        },
      },
    },
    { enqueue: (key) => void reconciled.push(`${key} at ${clock.monotonic()}`), enqueueAll: () => undefined },
  );
  const change = async (times: number): Promise<void> => {
    for (let n = 0; n < times; n += 1) {
      listener?.onChange({ org: 'shop', name: 'faq' });
      await clock.advance(5);
    }
  };
  await change(1_000);
  await clock.advance(60_000);
  expect(reconciled).toEqual([0, 2_000, 4_000, 6_000].map((at) => `shop/faq at ${at}`));
  // Every change shows in a reconcile for another reason.
  expect(stale).toBe(1_000);
  documents = 1_000_000;
  await change(2);
  await clock.advance(60_000);
  expect(reconciled.slice(4)).toEqual([65_000, 85_000].map((at) => `shop/faq at ${at}`));
  await stop();
  expect(clock.timers).toBe(0);
});
