import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { KnowledgeBaseStatus } from '../crds/index.ts';
import type { Condition } from '../kube/types.ts';
import { idOf, SimulatedOperator, things, type Thing } from '../test/support/simulated-operator.ts';
import { conditionOf } from './status/conditions.ts';
import { reasons, type Reason } from './status/reasons.ts';

function operatorWith(contents: readonly Thing[]): SimulatedOperator {
  const operator = new SimulatedOperator();
  for (const thing of contents) operator.arrive(thing);
  return operator;
}

const times: ReadonlySet<string> = new Set(['lastTransitionTime', 'lastRefreshedAt', 'activeSince']);

/** Everything that a status says but when. */
function statuses(operator: SimulatedOperator): unknown {
  return Object.fromEntries(
    [...operator.objects]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([id, { status }]) => [
        id,
        JSON.parse(JSON.stringify(status ?? {}, (key, value: unknown) => (times.has(key) ? undefined : value))) as unknown,
      ]),
  );
}

const inside: ReadonlySet<string> = new Set(['documents', 'chunks', 'sources', 'store']);

/**
 * servingRevision is history: it may be an earlier sound one where the present one isn't. So is what is in a knowledge
 * base, where its present spec is not accepted.
 */
function withoutHistory(operator: SimulatedOperator): unknown {
  return JSON.parse(JSON.stringify(statuses(operator), dropHistory));
}

function dropHistory(this: unknown, key: string, value: unknown): unknown {
  if (key === 'servingRevision') return undefined;
  if (inside.has(key) && conditionOf({ status: this as KnowledgeBaseStatus }, 'Accepted')?.status === 'False') return undefined;
  return typeof value === 'string' ? value.replace(' (calls go on with the last sound revision)', '') : value;
}

/** Of this generation, with a reason from the registry that fits the status, and something to read. */
function isSound({ type, status, reason, message, observedGeneration }: Condition, generation: number | undefined): boolean {
  if (observedGeneration !== generation || message === '' || !Object.hasOwn(reasons, reason)) return false;
  const definition = reasons[reason as Reason];
  return definition.condition !== type || definition.status === status;
}

/** When each condition took its status. */
function transitions(operator: SimulatedOperator): ReadonlyMap<string, string> {
  return new Map(
    [...operator.objects].flatMap(([id, { status }]) =>
      (status?.conditions ?? []).map((condition) => [`${id}/${condition.type}/${condition.status}`, condition.lastTransitionTime] as const),
    ),
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
          expect(conditions.filter((condition) => !isSound(condition, object.metadata.generation))).toEqual([]);
          expect([undefined, ready?.reason]).toContain(byType.get('Stalled')?.reason);
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
        things.chain((contents) =>
          fc.tuple(
            fc.constant(contents),
            fc.shuffledSubarray([...contents], { minLength: contents.length }),
            fc.array(fc.nat(), { maxLength: 40 }),
          ),
        ),
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
        const before = transitions(operator);
        operator.now += 60_000;
        operator.storeAvailable = false;
        for (const [id, object] of operator.objects)
          operator.objects.set(id, { ...object, metadata: { ...object.metadata, generation: 2 } });
        operator.settle();
        const moved = [...transitions(operator)].filter(([what, when]) => before.has(what) && before.get(what) !== when);
        expect(moved).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });
});
