import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { PhoneNumber } from '../../crds/index.ts';
import { NumberAssignments } from '../../platform/config/phone-numbers.ts';
import type { NumberClaim } from '../../store/index.ts';
import { storedObject } from '../../test/support/arbitrary-things.ts';
import { memorySnapshot } from '../references/memory-snapshot.ts';
import { findCondition } from '../../crds/kind.ts';
import { ownershipOf, type ClaimView } from './ownership.ts';
import { planPhoneNumber } from './plan.ts';

const number = '+15550100';
const day = 86_400_000;
const start = Date.parse('2026-06-01T00:00:00Z');
const organizations = ['acme', 'globex'];

const anObject = (namespace: string, uid: string, at = start): PhoneNumber => {
  const creationTimestamp = new Date(at).toISOString();
  return storedObject(
    'PhoneNumber',
    uid,
    { number, type: 'SIP', sip: {} },
    { namespace, creationTimestamp, metadata: { uid } },
  ) as PhoneNumber;
};
const judge = (object: PhoneNumber, others: readonly PhoneNumber[], claim: ClaimView, assignees?: readonly string[]) =>
  ownershipOf(object, memorySnapshot({ organizations, phoneNumbers: [object, ...others] }), { claim, assignees });
const known = (claim?: NumberClaim): ClaimView => ({ state: 'known', ...(claim && { claim }) });
const reasonOf = (ownership: ReturnType<typeof judge>) => ('problem' in ownership ? ownership.problem.reason : ownership.verdict);

const [ours, theirs] = [anObject('acme', 'a1'), anObject('globex', 'g1', start + 1_000)];
const heldByThem = { org: 'globex', uid: 'g1', expired: false };
const reserved = { ...heldByThem, reservedUntil: new Date(start + day) };

describe('a number', () => {
  it('that was never used is claimed by the oldest object', () => {
    expect(reasonOf(judge(ours, [theirs], known()))).toBe('claimant');
    expect(reasonOf(judge(theirs, [ours], known()))).toBe('NumberTaken');
  });

  it('is kept against an older object of another organisation, and taken over by another object of the same', () => {
    expect(reasonOf(judge(ours, [theirs], known(heldByThem)))).toBe('NumberTaken');
    expect(reasonOf(judge(theirs, [ours], known(heldByThem)))).toBe('owner');
    expect(reasonOf(judge(anObject('globex', 'g2'), [ours], known(heldByThem)))).toBe('claimant');
    expect(reasonOf(judge(anObject('globex', 'g2'), [ours], known(reserved)))).toBe('claimant');
  });

  it('is reserved until the reported time, and then goes to the object that is applied, not to one that waited', () => {
    const waiting = judge(ours, [], known(reserved));
    expect(waiting).toMatchObject({ problem: { reason: 'NumberReserved', message: expect.stringContaining('2026-06-02T00:00:00.000Z') } });
    const over = known({ ...reserved, expired: true });
    const recreated = anObject('acme', 'a2', start + day);
    expect(reasonOf(judge(ours, [], over))).toBe('NumberReserved');
    expect(reasonOf(judge(recreated, [theirs], over))).toBe('claimant');
  });

  it('that is assigned belongs to its owner alone, whatever claims came before', () => {
    expect(reasonOf(judge(ours, [], known(), ['globex']))).toBe('NumberNotAssigned');
    expect(reasonOf(judge(ours, [], known({ ...heldByThem, org: 'acme', uid: 'a1' }), ['globex']))).toBe('NumberNotAssigned');
    expect(reasonOf(judge(ours, [theirs], known(reserved), ['acme']))).toBe('claimant');
    expect(reasonOf(judge(ours, [theirs], known(heldByThem), ['acme']))).toBe('claimant');
    expect(reasonOf(judge(ours, [theirs], known(heldByThem), ['acme', 'globex']))).toBe('NumberTaken');
  });

  it('stays with who has it while Postgres is unavailable, and goes to no one', () => {
    const away: ClaimView = { state: 'unavailable', why: 'Postgres does not answer' };
    expect(reasonOf(judge(ours, [], away))).toBe('unknown');
    const accepted = { type: 'Accepted', status: 'True', reason: 'SpecAccepted', message: '', lastTransitionTime: '' } as const;
    expect(reasonOf(judge({ ...ours, status: { conditions: [accepted] } }, [], away))).toBe('owner');
  });
});

/** Keeps the claim of a number as the functions in Postgres do. */
class Claims {
  row: { org: string; uid: string; releasedAt?: number } | undefined;

  view(now: number): ClaimView {
    if (this.row === undefined) return known();
    const { org, uid, releasedAt } = this.row;
    const until = releasedAt === undefined ? undefined : releasedAt + day;
    return known({
      org,
      uid,
      ...(until !== undefined && { reservedUntil: new Date(until) }),
      expired: until !== undefined && until <= now,
    });
  }

  claim(org: string, uid: string, now: number): void {
    const { row } = this;
    if (row === undefined || row.org === org || (row.releasedAt !== undefined && row.releasedAt + day <= now)) this.row = { org, uid };
  }
}

type Step =
  | { readonly do: 'apply' | 'delete' | 'reconcile'; readonly org: string; readonly slot: number }
  | { readonly do: 'resync' | 'outage' | 'recovery' | 'operator down' | 'operator up' }
  | { readonly do: 'wait'; readonly ms: number };

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constantFrom('apply', 'delete', 'reconcile'), org: fc.constantFrom(...organizations), slot: fc.nat(1) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('resync', 'outage', 'recovery', 'operator down', 'operator up') }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait'), ms: fc.constantFrom(1_000, day / 3, day - 1_000) }) },
);

it('never changes hands within a reservation, in 1,000 interleavings of two organisations', () => {
  let [changes, uses] = [0, 0];
  fc.assert(
    fc.property(fc.array(steps, { minLength: 10, maxLength: 60 }), (sequence) => {
      const claims = new Claims();
      const objects = new Map<string, PhoneNumber>();
      let [now, made, postgres, running] = [start, 0, true, true];
      /** The organisation whose object the operator last saw in use, and when that was. */
      let last: { readonly org: string; readonly at: number } | undefined;
      const all = (): PhoneNumber[] => [...objects.values()];
      const sweep = (): void => {
        if (!postgres || !running || claims.row === undefined || claims.row.releasedAt !== undefined) return;
        if (!all().some(({ metadata }) => metadata.uid === claims.row?.uid)) claims.row.releasedAt = now;
      };
      const reconcile = (key: string): void => {
        const object = objects.get(key);
        if (object === undefined || !running) return;
        const { namespace: org = '', uid = '' } = object.metadata;
        const view: ClaimView = postgres ? claims.view(now) : { state: 'unavailable', why: 'Postgres does not answer' };
        const others = all().filter((other) => other !== object);
        const plan = (claim: ClaimView) =>
          planPhoneNumber(object, memorySnapshot({ organizations, phoneNumbers: [object, ...others] }), {
            now,
            deletionGraceMs: 0,
            nativeNumbers: { has: () => true },
            ownership: { claim },
            route: { state: 'known' },
          });
        let planned = plan(view);
        if (planned.actions.length > 0) {
          expect([planned.actions, postgres]).toEqual([[{ type: 'claim' }], true]);
          claims.claim(org, uid, now);
          planned = plan(claims.view(now));
        }
        objects.set(key, { ...object, status: planned.status! });
        if (findCondition(planned, 'Ready')?.status !== 'True') return;
        uses += 1;
        if (last !== undefined && last.org !== org) {
          changes += 1;
          expect(now - last.at, 'a number that changed hands was out of use for as long as its reservation').toBeGreaterThanOrEqual(day);
        }
        last = { org, at: now };
      };
      for (const step of sequence) {
        now += 1_000;
        // An object in use now was in use until this moment.
        if (
          claims.row !== undefined &&
          claims.row.releasedAt === undefined &&
          last?.org === claims.row.org &&
          objectOf(objects, claims.row.uid)
        )
          last = { org: last.org, at: now };
        switch (step.do) {
          case 'apply':
            made += 1;
            objects.set(`${step.org}/${step.slot}`, anObject(step.org, `uid-${made}`, now));
            sweep();
            reconcile(`${step.org}/${step.slot}`);
            break;
          case 'delete':
            objects.delete(`${step.org}/${step.slot}`);
            sweep();
            for (const key of objects.keys()) reconcile(key);
            break;
          case 'reconcile':
            reconcile(`${step.org}/${step.slot}`);
            break;
          case 'wait':
            now += step.ms;
            break;
          case 'outage':
            postgres = false;
            break;
          case 'operator down':
            running = false;
            break;
          default:
            postgres ||= step.do === 'recovery';
            running ||= step.do === 'operator up';
            sweep();
            for (const key of objects.keys()) reconcile(key);
        }
      }
    }),
    { numRuns: 1_000 },
  );
  expect(uses).toBeGreaterThan(1_000);
  // A reservation does end.
  expect(changes).toBeGreaterThan(0);
});

function objectOf(objects: ReadonlyMap<string, PhoneNumber>, uid: string): boolean {
  return [...objects.values()].some(({ metadata }) => metadata.uid === uid);
}

describe('assignments', () => {
  const assignments = new NumberAssignments([
    '+4930*=acme',
    '+493055*=globex',
    '+12125550100=acme',
    '+12125550100 = initech',
    '+1212*=globex',
  ]);

  it.each([
    ['+493012', ['acme']],
    ['+4930551', ['globex']],
    ['+12125550100', ['acme', 'initech']],
    ['+12125550101', ['globex']],
    ['+33123', undefined],
  ])('%s: %j', (e164, expected) => expect(assignments.assigneesOf(e164)).toEqual(expected));

  it.each(['4930=acme', '+49 30=acme', '+4930*', '+4930*=Acme', '+*=acme', '=acme'])('%j is none', (entry) =>
    expect(() => new NumberAssignments([entry])).toThrow(RangeError),
  );
});
