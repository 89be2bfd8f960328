import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { Agent, PhoneNumber } from '../crds/index.ts';
import type { Condition } from '../kube/types.ts';
import { idOf, things, type Thing } from '../test/support/arbitrary-things.ts';
import { SimulatedOperator } from '../test/support/simulated-operator.ts';
import type { DataObject } from './references/cluster-snapshot.ts';
import { findCondition } from '../crds/kind.ts';
import { reasons, type Reason } from './status/reasons.ts';

function operatorWith(contents: readonly Thing[]): SimulatedOperator {
  const operator = new SimulatedOperator();
  for (const thing of contents) operator.arrive(thing);
  return operator;
}

const times: ReadonlySet<string> = new Set(['lastTransitionTime', 'lastRefreshedAt', 'servingSince']);

/** Returns everything that a status says but when. */
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
 * servingRevision is history: it may be an earlier sound one where the present one isn't. So is whether an agent or a number
 * that lacks something goes on without it, whether an agent serves whose required tests have not passed, and what is in a knowledge base whose present spec is not accepted.
 */
function withoutHistory(operator: SimulatedOperator): unknown {
  return JSON.parse(JSON.stringify(statuses(operator), dropHistory));
}

function dropHistory(this: object, key: string, value: unknown): unknown {
  if (key === 'servingRevision') return undefined;
  if (inside.has(key) && findCondition({ status: this }, 'Accepted')?.status === 'False') return undefined;
  // What a knowledge base took in before another took the name is still there, and its progress with it.
  if (key === 'conditions' && findCondition({ status: this }, 'Accepted')?.status === 'False')
    return (value as readonly Condition[]).filter(({ type }) => type !== 'Ingesting');
  if (key === 'conditions' && ('desiredRevision' in this || 'provider' in this)) {
    const conditions = value as readonly Condition[];
    const tested = findCondition({ status: { conditions } }, 'Tested');
    if (tested !== undefined && tested.status !== 'True')
      return conditions.filter(({ type }) => ['Accepted', 'ResolvedRefs', 'Tested'].includes(type));
    const lacks = findCondition({ status: { conditions } }, 'ResolvedRefs')?.status === 'False';
    return lacks ? conditions.filter(({ type }) => type !== 'Synced') : conditions;
  }
  if (key.endsWith('TrunkID') || key === 'dispatchRuleID') return undefined;
  return typeof value === 'string' ? value.replace(/ \(calls continue with(out it| the last valid revision)\)/, '') : value;
}

/** Whether a condition is of this generation, with a reason from the registry that fits the status, and something to read. */
function isSound({ type, status, reason, message, observedGeneration }: Condition, generation: number | undefined): boolean {
  if (observedGeneration !== generation || message === '' || !Object.hasOwn(reasons, reason)) return false;
  const definition = reasons[reason as Reason];
  return definition.condition !== type || definition.status === status;
}

/** Returns when each condition took its status. */
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

  it('serves an edit of an agent that has served, whatever else it lost that it can do without', () => {
    fc.assert(
      fc.property(things, fc.infiniteStream(fc.boolean()), (contents, losses) => {
        const operator = operatorWith(contents);
        operator.settle();
        const served = new Set(operator.serving.keys());
        for (const thing of contents)
          if (thing.type !== 'object' || thing.object.kind !== 'Agent') if (losses.next().value) operator.leave(idOf(thing));
        const agents = [...operator.objects].filter(([, { kind, metadata }]) => kind === 'Agent' && served.has(metadata.uid ?? ''));
        for (const [id, { spec, metadata, ...agent }] of agents)
          operator.objects.set(id, {
            ...agent,
            metadata: { ...metadata, generation: 2 },
            spec: { ...spec, welcomeMessage: 'edited' },
          } as Agent);
        operator.settle();
        for (const [id, { metadata }] of agents) {
          const { spec, status = {} } = operator.objects.get(id) as Agent;
          const snapshot = operator.snapshot();
          const { namespace = '', uid = '' } = metadata;
          const [key, prompt] = [spec.llm.apiKeySecretRef, spec.llm.systemPromptFrom?.configMapKeyRef];
          const has = (found: DataObject, name: string | undefined) => found.state === 'present' && found.keys.has(name ?? '');
          const lacks =
            (key !== undefined && !has(snapshot.secret(namespace, key.name), key.key)) ||
            (prompt !== undefined && !has(snapshot.configMap(namespace, prompt.name), prompt.key));
          const config = operator.serving.get(uid)?.config;
          expect(config?.agent.welcomeMessage).toBe(lacks ? undefined : 'edited');
          if (lacks) continue;
          const base = spec.knowledgeBaseRef?.name;
          const lostBase = base !== undefined && snapshot.knowledgeBase(namespace, base) === undefined;
          expect(config?.knowledgeBase).toBe(lostBase ? null : (base ?? null));
          expect(findCondition({ status }, 'Ready')?.status).toBe(
            lostBase || status.desiredRevision !== status.servingRevision ? 'False' : 'True',
          );
        }
      }),
      { numRuns: 500 },
    );
  });

  it('follows the agents of a number that has been connected, whatever it lost', () => {
    fc.assert(
      fc.property(things, fc.infiniteStream(fc.boolean()), (contents, losses) => {
        const operator = operatorWith(contents);
        operator.settle();
        for (const thing of contents)
          if (thing.type !== 'object' || thing.object.kind !== 'PhoneNumber') if (losses.next().value) operator.leave(idOf(thing));
        const before = new Map([...operator.trunks].filter(([, { kind }]) => kind === 'inbound'));
        const numbers = [...operator.objects].filter(([, { metadata }]) => operator.routes.has(metadata.uid ?? ''));
        for (const [id, { spec, metadata, ...number }] of numbers)
          operator.objects.set(id, {
            ...number,
            metadata: { ...metadata, generation: 2 },
            spec: { ...spec, inboundAgentRef: { name: 'beta' }, outboundAgentRef: { name: 'alpha' } },
          } as PhoneNumber);
        operator.settle();
        for (const [id, { metadata }] of numbers) {
          const { uid = '' } = metadata;
          expect(operator.routes.get(uid)).toMatchObject({ inboundAgent: 'beta', outboundAgent: 'alpha' });
          const rules = [...operator.trunks.values()].filter((thing) => thing.uid === uid && thing.kind === 'rule');
          expect(rules).toHaveLength(1);
          expect(operator.objects.get(id)?.status?.observedGeneration).toBe(2);
        }
        // A Secret that is gone takes the login from no trunk.
        expect(new Map([...operator.trunks].filter(([, { kind }]) => kind === 'inbound'))).toEqual(before);
      }),
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
