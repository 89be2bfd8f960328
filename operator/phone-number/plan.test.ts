import { describe, expect, it } from 'vitest';

import type { PhoneNumber } from '../../crds/index.ts';
import { NumberPool } from '../../platform/config/phone-numbers.ts';
import { storedObject } from '../../test/support/arbitrary-things.ts';
import { memorySnapshot } from '../references/memory-snapshot.ts';
import { planPhoneNumber } from './plan.ts';

function acceptance(spec: object, pool: string): unknown {
  const phoneNumber = storedObject('PhoneNumber', 'p', spec) as PhoneNumber;
  const snapshot = memorySnapshot({ phoneNumbers: [phoneNumber], organizations: ['acme'] });
  const { status } = planPhoneNumber(phoneNumber, snapshot, {
    now: 0,
    deletionGraceMs: 0,
    nativeNumbers: new NumberPool(pool),
    ownership: { claim: { state: 'known', claim: { org: 'acme', uid: 'uid-PhoneNumber-acme-p', expired: false } } },
  });
  const accepted = status?.conditions?.find(({ type }) => type === 'Accepted');
  return [accepted?.status, accepted?.reason];
}

describe('a number of the pool', () => {
  it.each([
    ['', { native: {} }, ['True', 'SpecAccepted']],
    ['+1555*', { native: {} }, ['True', 'SpecAccepted']],
    ['+15550101', { native: {} }, ['False', 'NumberNotInPool']],
    ['+15550101', { sip: {} }, ['True', 'SpecAccepted']],
    ['+15550101', { carrier: {} }, ['True', 'SpecAccepted']],
  ])('pool %j, %j: %j', (pool, variant, expected) => expect(acceptance({ number: '+15550100', ...variant }, pool)).toEqual(expected));
});
