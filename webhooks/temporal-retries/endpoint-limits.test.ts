import { expect, it } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { EndpointLimits } from './endpoint-limits.ts';

/** Places that are asked for and released by the name of the endpoint. */
function limited(options: { readonly atOnce: number; readonly perEndpoint: number }) {
  const clock = new FakeClock();
  const limits = new EndpointLimits({ clock, ...options });
  const held: Record<string, (() => void)[]> = {};
  const acquire = async (uid: string, waitMs = 0, org = 'acme'): Promise<boolean> => {
    const release = await limits.acquire({ uid, org }, waitMs);
    if (release !== undefined) (held[uid] ??= []).push(release);
    return release !== undefined;
  };
  return { clock, acquire, release: (uid: string) => held[uid]?.pop()?.() };
}

it('gives each endpoint its own places, and a free one to who has waited longest', async () => {
  const { clock, acquire, release } = limited({ atOnce: 100, perEndpoint: 2 });
  expect([await acquire('a'), await acquire('a'), await acquire('b')]).toEqual([true, true, true]);
  const order: string[] = [];
  const first = acquire('a', 100).then((got) => order.push(`first ${got}`));
  const second = acquire('a', 50).then((got) => order.push(`second ${got}`));
  const third = acquire('a', 100).then((got) => order.push(`third ${got}`));
  await clock.advance(60);
  await second;
  release('a');
  await first;
  release('a');
  await third;
  expect(order).toEqual(['second false', 'first true', 'third true']);
  // Three taken, two given on, so that two are in use.
  const late = acquire('a', 10);
  await clock.advance(10);
  expect(await late).toBe(false);
  release('a');
  release('a');
  expect(await acquire('a')).toBe(true);
});

it('leaves half of the places to other organisations, whatever the endpoints of one do', async () => {
  const { clock, acquire, release } = limited({ atOnce: 5, perEndpoint: 2 });
  expect([await acquire('a'), await acquire('b'), await acquire('c')]).toEqual([true, true, true]);
  expect([await acquire('d'), await acquire('other', 0, 'globex')]).toEqual([false, true]);
  release('a');
  expect([await acquire('d'), await acquire('a')]).toEqual([true, false]);
  // Who waited in vain holds nothing.
  release('b');
  release('c');
  expect(await acquire('d')).toBe(true);
  const inVain = acquire('d', 10);
  await clock.advance(10);
  expect([await inVain, await acquire('a')]).toEqual([false, true]);
});
