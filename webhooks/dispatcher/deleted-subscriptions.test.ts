import { expect, it } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { endpoint } from '../../test/support/webhook-endpoint.ts';
import { DeletedSubscriptions } from './deleted-subscriptions.ts';

function set() {
  const clock = new FakeClock();
  const known = new Set<string>();
  const inUse = new Set<string>();
  const removed: string[] = [];
  const directory = { connected: true, byUid: (uid: string) => (known.has(uid) ? endpoint({ uid }) : undefined) };
  const departures = new DeletedSubscriptions({
    store: {
      subscriptionsIn: async () => [...inUse],
      endpoints: async () => [],
      forgetName: async () => undefined,
      async removeSubscription(uid) {
        removed.push(uid);
        return false;
      },
    },
    directory,
    onGone: () => undefined,
    clock,
  });
  return { clock, known, inUse, removed, directory, departures };
}

it('ends at once what waits for an endpoint that was seen to go, and what comes for it afterwards', async () => {
  const { clock, inUse, removed, departures } = set();
  inUse.add('a');
  await departures.left('a');
  expect(removed).toEqual(['a']);
  clock.tick(100_000);
  await departures.look();
  expect(removed).toEqual(['a', 'a']);
  inUse.clear();
  clock.tick(100_000);
  await departures.look();
  await departures.look();
  expect(removed).toEqual(['a', 'a']);
});

it('leaves one alone that is back: an agent that has an address again', async () => {
  const { known, removed, departures } = set();
  await departures.left('a');
  known.add('a');
  await departures.look();
  expect(removed).toEqual(['a']);
});

it('takes one for gone that it does not know for a minute', async () => {
  const { clock, known, inUse, removed, departures } = set();
  known.add('b');
  inUse.add('a').add('b');
  await departures.look();
  clock.tick(59_000);
  await departures.look();
  expect(removed).toEqual([]);
  clock.tick(1_000);
  await departures.look();
  expect(removed).toEqual(['a']);
});

it('takes nothing for gone while it hears nothing from the API server, nor what it has just learned of', async () => {
  const { clock, known, inUse, removed, directory, departures } = set();
  inUse.add('a');
  await departures.look();
  directory.connected = false;
  clock.tick(600_000);
  await departures.look();
  directory.connected = true;
  clock.tick(59_000);
  await departures.look();
  known.add('a');
  clock.tick(60_000);
  await departures.look();
  expect(removed).toEqual([]);
});
