import { pino } from 'pino';
import { expect, it } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { SipError } from '../../calls/sip/sip-error.ts';
import type { SipSpec } from '../../calls/sip/trunk-specs.ts';
import type { SipThing, SipTrunks } from '../../calls/sip/trunks.ts';
import { TrunkCache } from './trunk-cache.ts';

const number = '+15550100';
const spec: SipSpec = { kind: 'inbound', name: 'desk', number, addresses: [] };
const there: SipThing = { kind: 'inbound', id: 'ST_old', uid: 'old', number, deletionPolicy: 'Retain', digest: 'd' };

it.each(['remove', 'replace'] as const)(
  'a number that was refused is tried again at once when another one is served by a %s',
  async (change) => {
    const trunks: SipTrunks = {
      list: async () => [there],
      create: async () => {
        throw new SipError('refused', 'conflicting trunk');
      },
      replace: async () => ({ ...there, number: '+15550101' }),
      remove: async () => undefined,
      digest: () => 'd',
    };
    const cache = new TrunkCache({ trunks, clock: new FakeClock(), logger: pino({ level: 'silent' }), pollMs: 30_000 });
    const changed: string[] = [];
    const stop = cache.poll((uids) => changed.push(...uids));
    const owner = { uid: 'new', number, deletionPolicy: 'Retain' } as const;
    await cache.view(owner);
    await expect(cache.create(spec, owner, 'attempt')).resolves.toBe(false);
    await expect(cache.view(owner)).resolves.toMatchObject({ refused: { message: 'conflicting trunk' } });
    changed.length = 0;
    const former = { ...owner, uid: 'old' };
    await (change === 'remove' ? cache.remove(there, former) : cache.replace(there.id, spec, former, 'change'));
    expect(changed).toEqual(['new']);
    await expect(cache.view(owner)).resolves.not.toHaveProperty('refused');
    stop();
  },
);

it('lists on where what was left behind could not be removed', async () => {
  let listings = 0;
  const trunks = {
    list: async () => {
      listings += 1;
      return [];
    },
  } as unknown as SipTrunks;
  const clock = new FakeClock();
  const cache = new TrunkCache({ trunks, clock, logger: pino({ level: 'silent' }), pollMs: 30_000 });
  const stop = cache.poll(
    () => undefined,
    () => Promise.reject(new Error('refused')),
  );
  for (let round = 1; round <= 3; round += 1) {
    await clock.advance(30_000);
    expect(listings).toBe(round);
  }
  stop();
});
