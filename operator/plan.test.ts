import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { Condition } from '../kube/types.ts';
import { idOf, SimulatedOperator, things, type Thing } from '../test/support/simulated-operator.ts';
import { reasons, type Reason } from './status/reasons.ts';

function operatorWith(contents: readonly Thing[]): SimulatedOperator {
  const operator = new SimulatedOperator();
  for (const thing of contents) operator.arrive(thing);
  return operator;
}

/** Everything that a status says but when. */
function statuses(operator: SimulatedOperator): unknown {
  return Object.fromEntries(
    [...operator.objects]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([id, { status }]) => {
        const { activeSince: _activeSince, conditions, ...rest } = (status ?? {}) as { activeSince?: string; conditions?: readonly Condition[] };
        return [id, { ...rest, conditions: conditions?.map(({ lastTransitionTime: _time, ...condition }) => condition) }];
      }),
  );
}

describe('every plan', () => {
  it('reports a status that kstatus understands', () => {
    fc.assert(
      fc.property(things, fc.boolean(), (contents, storeAvailable) => {
        const operator = operatorWith(contents);
        operator.storeAvailable = storeAvailable;
        operator.settle();
        for (const object of operator.objects.values()) {
          const conditions = object.status?.conditions ?? [];
          const byType = new Map(conditions.map((condition) => [condition.type, condition]));
          expect(byType.size).toBe(conditions.length);
          expect(object.status?.observedGeneration).toBe(object.metadata.generation);
          const ready = byType.get('Ready');
          const progress = [...byType.keys()].filter((type) => type === 'Stalled' || type === 'Reconciling');
          expect(progress).toHaveLength(ready?.status === 'False' ? 1 : 0);
          for (const condition of conditions) {
            expect(condition.observedGeneration).toBe(object.metadata.generation);
            expect(condition.reason in reasons).toBe(true);
            expect(condition.message).not.toBe('');
            const definition = reasons[condition.reason as Reason];
            if (definition.condition === condition.type) expect(condition.status).toBe(definition.status);
          }
          if (byType.get('Stalled')) expect(byType.get('Stalled')?.reason).toBe(ready?.reason);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('says the same when it is made again later', () => {
    fc.assert(
      fc.property(things, fc.boolean(), (contents, storeAvailable) => {
        const operator = operatorWith(contents);
        operator.storeAvailable = storeAvailable;
        operator.settle();
        operator.now += 86_400_000;
        for (const object of operator.objects.values()) {
          const plan = operator.plan(object);
          expect(plan.actions).toEqual([]);
          expect(plan.status).toEqual(object.status);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('leads to the same statuses whatever came first and was looked at in between', () => {
    fc.assert(
      fc.property(
        things.chain((contents) => fc.tuple(fc.constant(contents), fc.shuffledSubarray([...contents], { minLength: contents.length }), fc.array(fc.nat(), { maxLength: 40 }))),
        ([contents, shuffled, looks]) => {
          const together = operatorWith(contents);
          together.settle();
          const oneByOne = new SimulatedOperator();
          for (const [index, thing] of shuffled.entries()) {
            oneByOne.arrive(thing);
            oneByOne.now += 1_000;
            const look = looks[index];
            if (look !== undefined) oneByOne.reconcile(idOf(shuffled[look % (index + 1)]!));
          }
          oneByOne.settle();
          // servingRevision is history: it may be an earlier sound one where the present one isn't.
          const withoutHistory = (operator: SimulatedOperator): unknown =>
            JSON.parse(JSON.stringify(statuses(operator), (key, value: unknown) => (key === 'servingRevision' ? undefined : typeof value === 'string' ? value.replace(' (calls go on with the last sound revision)', '') : value)));
          expect(withoutHistory(oneByOne)).toEqual(withoutHistory(together));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('keeps the time of a condition whose status stays', () => {
    fc.assert(
      fc.property(things, (contents) => {
        const operator = operatorWith(contents);
        operator.settle();
        const times = new Map([...operator.objects].flatMap(([id, { status }]) => (status?.conditions ?? []).map((condition) => [`${id}/${condition.type}/${condition.status}`, condition.lastTransitionTime])));
        operator.now += 60_000;
        operator.storeAvailable = false;
        for (const [id, object] of operator.objects) operator.objects.set(id, { ...object, metadata: { ...object.metadata, generation: 2 } } as typeof object);
        operator.settle();
        for (const [id, { status }] of operator.objects) {
          for (const condition of status?.conditions ?? []) {
            const before = times.get(`${id}/${condition.type}/${condition.status}`);
            if (before !== undefined) expect(condition.lastTransitionTime).toBe(before);
          }
        }
      }),
      { numRuns: 100 },
    );
  });
});
