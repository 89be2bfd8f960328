/** Two organisations want the same numbers, with a real API server and Postgres. */
import { randomInt } from 'node:crypto';

import { afterEach, beforeAll, expect, it } from 'vitest';

import { aPhoneNumber } from '../../support/builders.ts';
import { eventually, nextSecond } from '../../support/eventually.ts';
import type { RunningRole } from '../../support/running-role.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { startProxyOf } from '../../support/tcp-proxy.ts';
import { condition, startCluster, type AnyObject } from './harness.ts';

const cluster = suiteFixture(startCluster);
const postgres = suiteFixture(() => startProxyOf(cluster.databaseUrl));
let ours: string;
let theirs: string;
const running: RunningRole[] = [];

beforeAll(async () => {
  [ours, theirs] = [await cluster.organization('ours'), await cluster.organization('theirs')];
});
afterEach(async () => {
  postgres.restore();
  await Promise.all(running.splice(0).map((one) => one.stop()));
});

async function operator(env: Record<string, string> = {}, identity = 'one'): Promise<RunningRole> {
  const started = await cluster.operator({ identity, env: { PARLEY_LOG_LEVEL: 'error', ...env } });
  running.push(started);
  return started;
}

const stop = async (one: RunningRole): Promise<void> => {
  running.splice(running.indexOf(one), 1);
  await one.stop();
};
const fresh = (): string => `+1555${randomInt(1_000_000, 9_999_999)}`;
const gone = (org: string, name: string): Promise<void> =>
  eventually(async () => expect(await cluster.get('PhoneNumber', org, name).catch(() => undefined)).toBeUndefined());
const says = (org: string, name: string, reason: string): Promise<AnyObject> =>
  cluster.reason('PhoneNumber', org, name, 'Accepted', reason);
const days = (count: number) => ({ reservedMs: count * 86_400_000 });

it('comes back to its organisation as often as it is deleted, renamed and made another variant, whichever others wait', async () => {
  await operator();
  const number = fresh();
  await cluster.apply(aPhoneNumber('main', number, ours));
  await cluster.ready('PhoneNumber', ours, 'main');
  await cluster.apply(aPhoneNumber('waits', number, theirs));
  await says(theirs, 'waits', 'NumberTaken');
  let name = 'main';
  for (const [next, spec] of [
    ['main', { type: 'SIP', sip: {} }],
    ['renamed', {}],
    ['main', { type: 'Carrier', carrier: { accountSID: 'AC1' } }],
  ] as const) {
    await cluster.remove('PhoneNumber', ours, name);
    await gone(ours, name);
    const reserved = await says(theirs, 'waits', 'NumberReserved');
    const until = (await cluster.store.numberClaims.get(number, days(30)))?.reservedUntil?.toISOString();
    expect(condition(reserved, 'Ready')).toMatchObject({ status: 'False', message: expect.stringContaining(String(until)) });
    expect(JSON.stringify(reserved.status)).not.toContain('ours');
    await cluster.apply(aPhoneNumber(next, number, ours, spec));
    await cluster.ready('PhoneNumber', ours, next);
    await says(theirs, 'waits', 'NumberTaken');
    name = next;
  }
});

it('is reserved from the moment that an operator is back when it was deleted while none ran', async () => {
  const first = await operator();
  const [number, other] = [fresh(), fresh()];
  await cluster.apply(aPhoneNumber('unseen', number, ours), aPhoneNumber('stays', other, ours));
  await Promise.all([cluster.ready('PhoneNumber', ours, 'unseen'), cluster.ready('PhoneNumber', ours, 'stays')]);
  await stop(first);
  await cluster.remove('PhoneNumber', ours, 'unseen');
  await cluster.apply(aPhoneNumber('hopes', number, theirs));
  await operator({}, 'two');
  await says(theirs, 'hopes', 'NumberReserved');
  expect((await cluster.store.numberClaims.get(other, days(30)))?.reservedUntil).toBeUndefined();
});

it('goes to who applies it after the reservation, and not to who waited for that', async () => {
  await operator({ PARLEY_NUMBER_RESERVATION_DAYS: '0' });
  const number = fresh();
  await cluster.apply(aPhoneNumber('brief', number, ours));
  await cluster.ready('PhoneNumber', ours, 'brief');
  await cluster.apply(aPhoneNumber('patient', number, theirs));
  await says(theirs, 'patient', 'NumberTaken');
  await cluster.remove('PhoneNumber', ours, 'brief');
  const waiting = await says(theirs, 'patient', 'NumberReserved');
  expect(condition(waiting, 'Accepted')?.message).toContain('apply it again');
  await nextSecond();
  await cluster.remove('PhoneNumber', theirs, 'patient');
  await cluster.apply(aPhoneNumber('patient', number, theirs));
  await cluster.ready('PhoneNumber', theirs, 'patient');
});

it('that is assigned belongs to those organisations alone, from the next start on', async () => {
  const first = await operator();
  const number = fresh();
  await cluster.apply(aPhoneNumber('assigned', number, ours));
  await cluster.ready('PhoneNumber', ours, 'assigned');
  await cluster.apply(aPhoneNumber('assigned', number, theirs));
  await says(theirs, 'assigned', 'NumberTaken');
  await stop(first);
  await operator({ PARLEY_NUMBER_ASSIGNMENTS: `${number.slice(0, -1)}*=${theirs}` }, 'two');
  await says(ours, 'assigned', 'NumberNotAssigned');
  await cluster.ready('PhoneNumber', theirs, 'assigned');
  expect((await cluster.store.numberClaims.get(number, days(30)))?.org).toBe(theirs);
});

it('stays with its owner while Postgres is down, and no claim is granted', async () => {
  const url = new URL(cluster.databaseUrl);
  url.port = String(postgres.port);
  await operator({ DATABASE_URL: url.href });
  const [number, another] = [fresh(), fresh()];
  await cluster.apply(aPhoneNumber('kept', number, ours));
  const kept = await cluster.ready('PhoneNumber', ours, 'kept');
  postgres.cut();
  await cluster.apply(aPhoneNumber('later', another, ours), aPhoneNumber('kept', number, theirs));
  await cluster.reason('PhoneNumber', ours, 'later', 'Synced', 'StoreUnavailable');
  await cluster.reason('PhoneNumber', theirs, 'kept', 'Synced', 'StoreUnavailable');
  expect((await cluster.get('PhoneNumber', ours, 'kept')).metadata.resourceVersion).toBe(kept.metadata.resourceVersion);
  await cluster.remove('PhoneNumber', ours, 'kept');
  await gone(ours, 'kept');
  postgres.restore();
  await cluster.ready('PhoneNumber', ours, 'later');
  await says(theirs, 'kept', 'NumberReserved');
});

it('never changes hands, in forty random steps of two organisations with operators that come and go', async () => {
  let active = await operator({}, 'a0');
  let standby = await operator({}, 'a1');
  const number = fresh();
  const names = ['x', 'y'];
  await cluster.apply(aPhoneNumber('x', number, ours));
  await cluster.ready('PhoneNumber', ours, 'x');
  const ready = async (org: string): Promise<boolean> => {
    const { items } = await cluster.client('PhoneNumber').listAll({ namespace: org });
    return items.some((object) => object.spec?.['number'] === number && condition(object, 'Ready')?.status === 'True');
  };
  for (let step = 0; step < 40; step += 1) {
    const [org = '', name = ''] = [[ours, theirs][randomInt(2)], names[randomInt(2)]];
    const [first, second] = randomInt(2) === 0 ? (['remove', 'apply'] as const) : (['apply', 'remove'] as const);
    for (const action of [first, second]) {
      if (action === 'remove') await cluster.remove('PhoneNumber', org, name).catch(() => undefined);
      else await cluster.apply(aPhoneNumber(name, number, org, randomInt(2) === 0 ? {} : { type: 'SIP', sip: {} })).catch(() => undefined);
      expect(await ready(theirs)).toBe(false);
      expect((await cluster.store.numberClaims.get(number, days(30)))?.org).toBe(ours);
    }
    if (step % 15 === 14) {
      await stop(active);
      active = standby;
      standby = await operator({}, `b${step}`);
    }
  }
  for (const org of [ours, theirs]) for (const name of names) await cluster.remove('PhoneNumber', org, name).catch(() => undefined);
  await cluster.apply(aPhoneNumber('last', number, theirs));
  await says(theirs, 'last', 'NumberReserved');
  await cluster.apply(aPhoneNumber('last', number, ours));
  await cluster.ready('PhoneNumber', ours, 'last');
  expect(await ready(theirs)).toBe(false);
});
