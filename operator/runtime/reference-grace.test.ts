import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { idOf, things, type Thing } from '../../test/support/arbitrary-things.ts';
import { SimulatedOperator } from '../../test/support/simulated-operator.ts';
import type { Managed } from '../status/common.ts';
import { commonFields } from '../status/common.ts';
import { findCondition } from '../../crds/kind.ts';
import { withReferenceGrace } from './reference-grace.ts';
import type { Problem, Reason } from '../status/reasons.ts';
import { accepted, resolvedRefs } from '../status/stages.ts';

const GRACE_MS = 120_000;
const START = Date.parse('2026-06-01T12:00:00Z');

type Status = ReturnType<typeof commonFields> & { observedDependenciesDigest?: string };

/** An object that is reconciled again and again. */
class Observed {
  object: Managed & { status?: Status } = {
    apiVersion: 'parley.dev/v1beta1',
    kind: 'Agent',
    metadata: { name: 'a', generation: 1 },
    spec: {},
  };

  reconcile(at: number, reasons: readonly Reason[], { refused = false, inputs = '' } = {}): { progress: string; requeueAfterMs?: number } {
    const now = START + at;
    const problem = (reason: Reason): Problem => ({ reason, message: `message of ${reason}` });
    const status: Status = {
      ...commonFields(this.object, now, [accepted(refused ? [problem('InvalidSpec')] : []), resolvedRefs(reasons.map(problem))]),
      observedDependenciesDigest: inputs,
    };
    const plan = withReferenceGrace(this.object, { actions: [], status }, { now, graceMs: GRACE_MS });
    this.object = { ...this.object, ...(plan.status && { status: plan.status }) };
    const shown = findCondition(this.object, 'Reconciling') ?? findCondition(this.object, 'Stalled') ?? findCondition(this.object, 'Ready');
    return {
      progress: `${shown?.type} ${shown?.reason}`,
      ...(plan.requeueAfterMs !== undefined && { requeueAfterMs: plan.requeueAfterMs }),
    };
  }

  edit(): void {
    this.object = { ...this.object, metadata: { ...this.object.metadata, generation: (this.object.metadata.generation ?? 0) + 1 } };
  }
}

const waiting = 'Reconciling WaitingForReferences';

describe('withReferenceGrace', () => {
  it('waits for what has never been there, and then gives up for good', () => {
    const agent = new Observed();
    expect(agent.reconcile(0, ['SecretNotFound'])).toEqual({ progress: waiting, requeueAfterMs: 120_000 });
    expect(agent.reconcile(90_000, ['SecretNotFound'])).toEqual({ progress: waiting, requeueAfterMs: 30_000 });
    expect(findCondition(agent.object, 'Reconciling')).toMatchObject({
      lastTransitionTime: '2026-06-01T12:00:00Z',
      message: 'message of SecretNotFound; waiting for it until 2026-06-01T12:02:00Z',
    });
    expect(agent.reconcile(120_000, ['SecretNotFound'])).toEqual({ progress: 'Stalled SecretNotFound' });
    expect(agent.reconcile(121_000, ['SecretNotFound'])).toEqual({ progress: 'Stalled SecretNotFound' });
    expect(agent.reconcile(122_000, [])).toEqual({ progress: 'Ready Available' });
  });

  it('waits for what was there and is lost, for it may have been replaced', () => {
    const agent = new Observed();
    expect(agent.reconcile(0, []).progress).toBe('Ready Available');
    expect(agent.reconcile(60_000, ['SecretNotFound'])).toEqual({ progress: waiting, requeueAfterMs: 120_000 });
    expect(agent.reconcile(62_000, []).progress).toBe('Ready Available');
    expect(agent.reconcile(70_000, ['SecretNotFound']).progress).toBe(waiting);
    expect(agent.reconcile(190_000, ['SecretNotFound']).progress).toBe('Stalled SecretNotFound');
  });

  it('waits again after an edit, for the whole time', () => {
    const agent = new Observed();
    agent.reconcile(0, []);
    agent.edit();
    expect(agent.reconcile(1_000, ['AgentNotFound'])).toEqual({ progress: waiting, requeueAfterMs: 120_000 });
    agent.edit();
    expect(agent.reconcile(101_000, ['AgentNotFound'])).toEqual({ progress: waiting, requeueAfterMs: 120_000 });
  });

  it('waits for what a tool names that attached itself, next to one that has stalled', () => {
    const agent = new Observed();
    agent.reconcile(0, ['ToolNotUsable'], { inputs: 'one' });
    expect(agent.reconcile(120_000, ['ToolNotUsable'], { inputs: 'one' }).progress).toBe('Stalled ToolNotUsable');
    expect(agent.reconcile(121_000, ['ToolNotUsable'], { inputs: 'two' }).progress).toBe(waiting);
  });

  it('does not wait for a person', () => {
    expect(new Observed().reconcile(0, ['SecretNotFound'], { refused: true }).progress).toBe('Stalled InvalidSpec');
    expect(new Observed().reconcile(0, ['ReferenceForbidden']).progress).toBe('Stalled ReferenceForbidden');
  });
});

/** Everything that can exist, in a cluster where Secrets and ConfigMaps come last. */
class SlowCluster extends SimulatedOperator {
  graceMs = GRACE_MS;

  override plan(object: Parameters<SimulatedOperator['plan']>[0]): ReturnType<SimulatedOperator['plan']> {
    return withReferenceGrace(object, super.plan(object), { now: this.now, graceMs: this.graceMs });
  }
}

const isObject = (thing: Thing): boolean => thing.type === 'object';
const stalled = (operator: SimulatedOperator): readonly string[] =>
  [...operator.objects].flatMap(([id, object]) => {
    const found = findCondition(object, 'Stalled');
    return found === undefined ? [] : [`${id} ${found.reason}`];
  });

describe('whatever is applied', () => {
  it('is never stalled by Secrets that come within the grace, and ends as it would without it', () => {
    fc.assert(
      fc.property(things, fc.integer({ min: 1_000, max: GRACE_MS - 1_000 }), (contents, lateBy) => {
        const [slow, atOnce] = [new SlowCluster(), new SlowCluster()];
        for (const thing of contents) atOnce.arrive(thing);
        for (const thing of contents.filter(isObject)) slow.arrive(thing);
        slow.settle();
        atOnce.settle();
        const hopeless = new Set(stalled(atOnce));
        expect(stalled(slow).filter((each) => / \w+NotFound$/.test(each) && !hopeless.has(each))).toEqual([]);
        slow.now += lateBy;
        for (const thing of contents.filter((each) => !isObject(each))) slow.arrive(thing);
        slow.settle();
        expect(stalled(slow).filter((each) => !hopeless.has(each))).toEqual([]);
        for (const operator of [slow, atOnce]) {
          operator.now += GRACE_MS;
          operator.settle();
        }
        const readiness = (operator: SimulatedOperator) =>
          [...operator.objects].map(
            ([id, object]) => `${id} ${findCondition(object, 'Ready')?.status} ${findCondition(object, 'Ready')?.reason}`,
          );
        expect(readiness(slow).toSorted()).toEqual(readiness(atOnce).toSorted());
        expect(
          [...slow.objects.values()].filter((object) => findCondition(object, 'Reconciling')?.reason === 'WaitingForReferences'),
        ).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it('asks for a person when something that was there goes and does not come back', () => {
    fc.assert(
      fc.property(things, (contents) => {
        const operator = new SlowCluster();
        for (const thing of contents) operator.arrive(thing);
        operator.settle();
        operator.now += GRACE_MS;
        operator.settle();
        const ready = [...operator.objects].filter(([, object]) => findCondition(object, 'Ready')?.status === 'True').map(([id]) => id);
        for (const thing of contents.filter((each) => !isObject(each))) operator.leave(idOf(thing));
        operator.settle();
        const waits = (id: string) => findCondition(operator.objects.get(id) ?? {}, 'Reconciling')?.reason === 'WaitingForReferences';
        expect(stalled(operator).filter((each) => ready.some((id) => each.startsWith(`${id} `)) && / \w+NotFound$/.test(each))).toEqual([]);
        const late = ready.filter(waits);
        operator.now += GRACE_MS;
        operator.settle();
        expect(late.filter(waits)).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});
