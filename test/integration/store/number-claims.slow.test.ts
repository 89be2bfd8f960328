/** Claims phone numbers, against a real Postgres. */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';

import { session, freshStore } from './support.ts';

const day = 86_400_000;
const terms = { reservedMs: day };
const route = { name: 'desk', type: 'SIP', inboundAgent: 'a', outboundAgent: null, outboundTrunk: null } as const;
const owner = (org: string, uid = `uid-${org}`, number = '+15550100') => ({ org, uid, number });

it('is one organisation’s, however many ask at once, and the others’ when its reservation is over', async () => {
  const { url, store } = await freshStore();
  const { numberClaims } = store;
  const orgs = Array.from({ length: 12 }, (_, index) => `org-${index}`);
  const claimed = await Promise.all(orgs.map((org) => numberClaims.claim(owner(org), terms)));
  expect(claimed.filter(Boolean)).toHaveLength(1);
  const [winner = '', loser = ''] = [orgs[claimed.indexOf(true)], orgs[claimed.indexOf(false)]];
  expect(await numberClaims.get('+15550100', terms)).toEqual({ ...owner(winner), expired: false });

  // A claim of another object or organisation is not released.
  await numberClaims.release(owner(winner, 'another'));
  await numberClaims.release({ ...owner(loser), uid: `uid-${winner}` });
  expect(await numberClaims.claim(owner(winner, 'second'), terms)).toBe(true);
  expect(await numberClaims.get('+15550100', terms)).toEqual({ ...owner(winner, 'second'), expired: false });

  await numberClaims.release(owner(winner, 'second'));
  expect(await numberClaims.get('+15550100', terms)).toMatchObject({ org: winner, reservedUntil: expect.any(Date), expired: false });
  expect(await numberClaims.claim(owner(loser), terms)).toBe(false);
  await (await session(url)).query("UPDATE parley.number_claims SET released_at = released_at - interval '1 day'");
  expect(await numberClaims.get('+15550100', terms)).toMatchObject({ expired: true });
  expect(await numberClaims.claim(owner(loser), terms)).toBe(true);
  expect(await numberClaims.claim(owner(winner), terms)).toBe(false);
});

it('passes to those it is assigned to, once no call goes to the others', async () => {
  const { store } = await freshStore();
  const { numberClaims, phoneRoutes } = store;
  await phoneRoutes.put({ ...owner('left'), ...route });
  const assigned = { ...terms, assignees: ['right'] };
  await expect(numberClaims.claim(owner('right'), assigned)).rejects.toMatchObject({ kind: 'conflict' });
  await phoneRoutes.remove(owner('left'));
  expect(await numberClaims.claim(owner('right'), { ...terms, assignees: ['right', 'left'] })).toBe(false);
  expect(await numberClaims.claim(owner('right'), assigned)).toBe(true);
  await expect(phoneRoutes.put({ ...owner('left'), ...route })).rejects.toMatchObject({ kind: 'conflict' });
});

it('is released with its route when its object is gone unseen, within one organisation or all of them', async () => {
  const { store } = await freshStore();
  const { numberClaims, phoneRoutes } = store;
  for (const [index, org] of ['left', 'left', 'right'].entries())
    await phoneRoutes.put({ ...owner(org, `uid-${index}`, `+1555010${index}`), ...route });
  expect(await numberClaims.releaseOthers(['uid-0'], 'left')).toEqual(['+15550101']);
  expect(await phoneRoutes.find('+15550101')).toBeUndefined();
  expect(await phoneRoutes.find('+15550102')).toBeDefined();
  expect(await numberClaims.releaseOthers(['uid-0'])).toEqual(['+15550102']);
  expect(await numberClaims.releaseOthers(['uid-0'])).toEqual([]);
  expect((await numberClaims.list(terms)).map(({ number, reservedUntil }) => [number, reservedUntil !== undefined])).toEqual([
    ['+15550100', false],
    ['+15550101', true],
    ['+15550102', true],
  ]);
  expect(await numberClaims.list({ ...terms, org: 'right' })).toMatchObject([{ number: '+15550102', org: 'right' }]);
  expect(await numberClaims.endReservation('+15550100')).toBeUndefined();
  expect(await numberClaims.endReservation('+15550102')).toBe('right');
  expect(await numberClaims.get('+15550102', terms)).toBeUndefined();
});

it('never changes hands, in 1,000 interleavings of two organisations that claim, release and route at once', async () => {
  const { url, store } = await freshStore({ poolSize: 8 });
  const { numberClaims, phoneRoutes } = store;
  const step = fc.record({
    org: fc.constantFrom('left', 'right'),
    uid: fc.constantFrom('1', '2'),
    do: fc.constantFrom('claim', 'claim', 'release', 'route', 'sweep', 'put', 'end of call'),
  });
  let serial = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { minLength: 2, maxLength: 5 }), async (rounds) => {
      serial += 1;
      const number = `+1555${String(serial).padStart(6, '0')}`;
      let holder: string | undefined;
      for (const round of rounds) {
        // The claims of one round come at the same time.
        await Promise.all(
          round.map(async ({ org, uid, do: what }) => {
            const one = { org, uid: `${org}-${uid}-${serial}`, number };
            if (what === 'claim') await numberClaims.claim(one, terms);
            else if (what === 'release') await numberClaims.release(one);
            else if (what === 'sweep') await numberClaims.releaseOthers([], org);
            else if (what === 'end of call') await phoneRoutes.remove(one);
            else await phoneRoutes.put({ ...one, ...route }).catch((error: { kind: string }) => expect(error.kind).toBe('conflict'));
          }),
        );
        const claim = await numberClaims.get(number, terms);
        holder ??= claim?.org;
        expect(claim?.org).toBe(holder);
        expect([undefined, holder]).toContain((await phoneRoutes.find(number))?.org);
      }
    }),
    { numRuns: 1_000 },
  );
  // Transactions that wait for each other are tried again, so that the results above would not show it.
  const { rows } = await (await session(url)).query('SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()');
  expect(rows).toEqual([{ deadlocks: '0' }]);
});

it('of no length is over at once', async () => {
  const { store } = await freshStore();
  const { numberClaims } = store;
  await numberClaims.claim(owner('left'), { reservedMs: 0 });
  await numberClaims.release(owner('left'));
  expect(await numberClaims.claim(owner('right'), { reservedMs: 0 })).toBe(true);
});
