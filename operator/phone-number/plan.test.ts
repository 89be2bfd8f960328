import { describe, expect, it } from 'vitest';

import type { PhoneNumber } from '../../crds/index.ts';
import { NumberPool } from '../../platform/config/phone-numbers.ts';
import { storedObject } from '../../test/support/arbitrary-things.ts';
import { memorySnapshot } from '../references/memory-snapshot.ts';
import { planPhoneNumber, type PhoneNumberPlan } from './plan.ts';

const ownership = { claim: { state: 'known', claim: { org: 'acme', uid: 'uid-PhoneNumber-acme-p', expired: false } } } as const;

function acceptance(spec: object, pool: string): unknown {
  const phoneNumber = storedObject('PhoneNumber', 'p', spec) as PhoneNumber;
  const snapshot = memorySnapshot({ phoneNumbers: [phoneNumber], organizations: ['acme'] });
  const { status } = planPhoneNumber(phoneNumber, snapshot, {
    now: 0,
    deletionGraceMs: 0,
    nativeNumbers: new NumberPool(pool),
    ownership,
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

describe('a trunk with a login', () => {
  const spec = { number: '+15550100', sip: { username: 'harbour', passwordSecretRef: { name: 'sip', key: 'password' } } };
  const secret = { namespace: 'acme', name: 'sip', uid: 's', resourceVersion: '1', keys: ['password'] };

  function planned({ password, forbidden }: { readonly password?: string; readonly forbidden?: ReadonlySet<string> }): PhoneNumberPlan {
    const finalizers = ['parley.dev/finalizer'];
    const phoneNumber = storedObject('PhoneNumber', 'p', spec, { metadata: { finalizers } }) as PhoneNumber;
    const snapshot = memorySnapshot({
      phoneNumbers: [phoneNumber],
      organizations: ['acme'],
      secrets: [secret],
      ...(forbidden && { forbidden }),
    });
    const digest = (of: object): string => JSON.stringify(of);
    const own = [{ kind: 'inbound', id: 'T1', uid: phoneNumber.metadata.uid ?? '', number: spec.number, digest: 'with a login' }] as const;
    const telephony = {
      sip: { state: 'known', own, others: [] },
      route: { state: 'known' },
      settings: { allowedAddresses: [] },
      password,
      digest,
    } as const;
    return planPhoneNumber(phoneNumber, snapshot, { now: 0, deletionGraceMs: 0, nativeNumbers: new NumberPool(''), ownership, telephony });
  }
  const changes = ({ actions }: PhoneNumberPlan): readonly unknown[] => actions.filter(({ type }) => type !== 'writeRoute');

  it('gets it', () => {
    expect(changes(planned({ password: 'open' }))).toMatchObject([{ type: 'replace', id: 'T1', spec: { login: { password: 'open' } } }]);
  });

  it('keeps it while the Secret may not be read', () => {
    expect(changes(planned({ forbidden: new Set(['Secret/acme/sip']) }))).toEqual([]);
  });

  it('keeps it where the key is empty, and says so', () => {
    const plan = planned({ password: '' });
    expect(changes(plan)).toEqual([]);
    expect(plan.status?.conditions?.find(({ type }) => type === 'ResolvedRefs')).toMatchObject({
      status: 'False',
      reason: 'SecretKeyNotFound',
      message: expect.stringContaining('Secret acme/sip has nothing in its key "password"'),
    });
  });

  it('waits for a password that is there and was not read', () => {
    expect(planned({})).toEqual({ actions: [], requeueAfterMs: 1_000 });
  });
});
