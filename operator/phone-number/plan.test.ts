import { describe, expect, it } from 'vitest';

import type { PhoneNumber } from '../../crds/index.ts';
import { NumberPool } from '../../platform/config/phone-numbers.ts';
import { storedObject } from '../../test/support/arbitrary-things.ts';
import { memorySnapshot } from '../references/memory-snapshot.ts';
import { findCondition } from '../../crds/kind.ts';
import { planPhoneNumber, type PhoneNumberPlan, type Telephony } from './plan.ts';
import type { RouteView, SipView } from './view.ts';

const ownership = { claim: { state: 'known', claim: { org: 'acme', uid: 'uid-PhoneNumber-acme-p', expired: false } } } as const;

function withPool(phoneNumber: PhoneNumber, pool: string): PhoneNumberPlan {
  const snapshot = memorySnapshot({ phoneNumbers: [phoneNumber], organizations: ['acme'] });
  return planPhoneNumber(phoneNumber, snapshot, {
    now: 0,
    deletionGraceMs: 0,
    nativeNumbers: new NumberPool(pool),
    ownership,
    route: { state: 'known' },
  });
}

describe('a number of the pool', () => {
  it.each([
    ['', { type: 'Native' }, ['True', 'SpecAccepted']],
    ['+1555*', { type: 'Native' }, ['True', 'SpecAccepted']],
    ['+15550101', { type: 'Native' }, ['False', 'NumberNotInPool']],
    ['+15550101', { type: 'SIP', sip: {} }, ['True', 'SpecAccepted']],
    ['+15550101', { type: 'Carrier' }, ['True', 'SpecAccepted']],
  ])('pool %j, %j: %j', (pool, variant, [status, reason]) => {
    const phoneNumber = storedObject('PhoneNumber', 'p', { number: '+15550100', ...variant }) as PhoneNumber;
    expect(findCondition(withPool(phoneNumber, pool), 'Accepted')).toMatchObject({ status, reason });
  });
});

describe('a region', () => {
  const accepted = (region: string) => {
    const phoneNumber = storedObject('PhoneNumber', 'p', { number: '+15550100', type: 'SIP', sip: { region } }) as PhoneNumber;
    return findCondition(withPool(phoneNumber, ''), 'Accepted');
  };

  it.each(['global', 'bd', 'bd_link3'])('%s is known', (region) => expect(accepted(region)).toMatchObject({ status: 'True' }));

  it.each([
    ['globel', 'did you mean "global"? known regions: global, bd, bd_link3'],
    ['mars', 'which this version does not know; known regions: global, bd, bd_link3'],
  ])('%s is not: %s', (region, message) =>
    expect(accepted(region)).toMatchObject({ status: 'False', reason: 'UnknownRegion', message: expect.stringContaining(message) }),
  );
});

describe('a trunk with a login', () => {
  const spec = {
    number: '+15550100',
    type: 'SIP',
    sip: { username: 'harbour', passwordSecretRef: { name: 'sip', key: 'password' } },
    deletionPolicy: 'Retain',
  } as const;
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
    const { number, deletionPolicy } = spec;
    const own = [
      { kind: 'inbound', id: 'T1', uid: phoneNumber.metadata.uid ?? '', number, deletionPolicy, digest: 'with a login' },
    ] as const;
    const telephony = {
      sip: { state: 'known', own, others: [] },
      settings: { allowedAddresses: [] },
      password,
      digest,
    } as const;
    return planPhoneNumber(phoneNumber, snapshot, {
      now: 0,
      deletionGraceMs: 0,
      nativeNumbers: new NumberPool(''),
      ownership,
      route: { state: 'known' },
      telephony,
    });
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

describe('deletion', () => {
  const now = Date.parse('2026-06-01T12:00:00Z');
  const outage = { state: 'unavailable', why: 'Postgres does not answer' } as const;
  const own = [
    { kind: 'inbound', id: 'T1', uid: 'uid-PhoneNumber-acme-p', number: '+15550100', deletionPolicy: 'Delete', digest: 'd' },
  ] as const;

  interface Deletion {
    readonly policy: 'Retain' | 'Delete' | 'Orphan';
    readonly route?: RouteView;
    /** Absent where no media server is configured. */
    readonly sip?: SipView;
    readonly secondsAgo?: number;
  }

  function deletion({ policy, route = { state: 'known' }, sip, secondsAgo = 20 }: Deletion): PhoneNumberPlan {
    const deletionTimestamp = new Date(now - secondsAgo * 1_000).toISOString();
    const metadata = { finalizers: ['parley.dev/finalizer'], deletionTimestamp };
    const spec = { number: '+15550100', type: 'SIP', sip: {}, deletionPolicy: policy };
    const telephony: Telephony | undefined = sip && {
      sip,
      settings: { allowedAddresses: [] },
      password: undefined,
      digest: JSON.stringify,
    };
    return planPhoneNumber(
      storedObject('PhoneNumber', 'p', spec, { metadata }) as PhoneNumber,
      memorySnapshot({ organizations: ['acme'] }),
      {
        now,
        deletionGraceMs: 60_000,
        nativeNumbers: new NumberPool(''),
        ownership: { claim: { state: 'known' } },
        route,
        ...(telephony && { telephony }),
      },
    );
  }
  const types = ({ actions }: PhoneNumberPlan): readonly string[] => actions.map(({ type }) => type);
  const known = { state: 'known', own, others: [] } as const;

  it.each([
    ['Retain', undefined, ['removeRoute', 'dropFinalizer']],
    ['Retain', known, ['removeRoute', 'dropFinalizer']],
    ['Orphan', known, ['removeRoute', 'dropFinalizer']],
    ['Orphan', { state: 'unavailable', why: 'it cannot be reached', login: false }, ['removeRoute', 'dropFinalizer']],
    ['Delete', known, ['removeRoute', 'remove', 'dropFinalizer']],
  ] as const)('with the policy %s at %j: %j', (policy, sip, actions) => {
    expect(types(deletion({ policy, ...(sip && { sip }) }))).toEqual(actions);
  });

  it.each([
    ['Retain', undefined],
    ['Retain', known],
    ['Delete', known],
  ] as const)('waits for Postgres for a bounded time: policy %s at %j', (policy, sip) => {
    const plan = deletion({ policy, route: outage, ...(sip && { sip }) });
    expect(plan).toMatchObject({ actions: [], requeueAfterMs: 40_000 });
    expect(findCondition(plan, 'Ready')).toMatchObject({ reason: 'Deleting', message: expect.stringContaining('2026-06-01T12:00:40Z') });
    expect(findCondition(plan, 'Synced')).toMatchObject({ status: 'False', reason: 'StoreUnavailable' });
  });

  it.each([
    [undefined, 'MediaServerNotConfigured', 'Unknown'],
    [{ state: 'unavailable', why: 'it cannot be reached', login: false }, 'MediaServerUnavailable', 'False'],
    [{ state: 'unavailable', why: 'it refuses the key', login: true }, 'MediaServerRefusesKey', 'False'],
  ] as const)('says what of the media server holds it up: %j', (sip, reason, status) => {
    const plan = deletion({ policy: 'Delete', ...(sip && { sip }) });
    expect(plan).toMatchObject({ actions: [], requeueAfterMs: 40_000 });
    expect(findCondition(plan, 'Synced')).toMatchObject({ status, reason });
    expect(findCondition(plan, 'Ready')).toMatchObject({ status: 'False', reason: 'Deleting' });
  });

  it.each([
    ['the time is up', { policy: 'Retain', secondsAgo: 61 }],
    ['its policy is Orphan', { policy: 'Orphan' }],
  ] as const)('lets go when %s, and says what stays behind', (_when, policy) => {
    const plan = deletion({ route: outage, ...policy });
    expect(types(plan)).toEqual(['dropFinalizer']);
    expect(plan.notices).toMatchObject([
      { type: 'Warning', reason: 'Retained', message: expect.stringContaining('Postgres does not answer') },
    ]);
  });
});
