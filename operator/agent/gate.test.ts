import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { Agent, AgentTest } from '../../crds/index.ts';
import { testDigest } from '../../crds/requested-test.ts';
import type { Stored } from '../../kube/index.ts';
import type { TestEvidence } from '../../store/index.ts';
import { storedObject } from '../../test/support/arbitrary-things.ts';
import { GateSimulation } from '../../test/support/gate-simulation.ts';
import { findCondition } from '../../crds/kind.ts';
import { gateOf } from './gate.ts';

type Command = (simulation: GateSimulation) => void | Promise<void>;

const named = fc.constantFrom('hours', 'orders');
const mostly = (value: boolean) => fc.integer({ min: 0, max: 9 }).map((n) => (n === 0 ? !value : value));
const test = fc.record({
  wording: fc.integer({ min: 0, max: 2 }),
  required: mostly(true),
  suspend: mostly(false),
  named: mostly(true),
  sound: mostly(true),
});

const many = (count: number, command: fc.Arbitrary<Command>) => ({ weight: count, arbitrary: command });
const always = (command: Command) => fc.constant(command);

/** Does what mostly happens: watches keep up, tests run and pass. */
const usually: Command = async (simulation) => {
  simulation.clock.tick(2_000);
  simulation.catchUp('Agent');
  simulation.catchUp('AgentTest');
  await simulation.reconcile();
  for (const one of simulation.store.pending) simulation.store.record(one, 'passed');
  await simulation.step();
};

const command: fc.Arbitrary<Command> = fc.oneof(
  many(
    4,
    always(async (simulation) => simulation.reconcile()),
  ),
  many(8, always(usually)),
  many(
    10,
    always(async (simulation) => void (await simulation.step())),
  ),
  many(
    3,
    fc.integer({ min: 0, max: 3 }).map(
      (version): Command =>
        (simulation) =>
          simulation.editPrompt(version),
    ),
  ),
  many(
    3,
    fc.tuple(named, test).map(
      ([name, fields]): Command =>
        (simulation) =>
          simulation.putTest(name, fields),
    ),
  ),
  many(
    1,
    named.map(
      (name): Command =>
        (simulation) =>
          void simulation.tests.delete(name),
    ),
  ),
  many(
    8,
    fc.tuple(fc.nat(3), fc.constantFrom('passed', 'passed', 'failed', 'error')).map(([which, verdict]): Command => (simulation) => {
      const { pending } = simulation.store;
      simulation.clock.tick(1);
      if (pending.length > 0) simulation.store.record(pending[which % pending.length]!, verdict);
    }),
  ),
  many(
    2,
    fc.constantFrom(undefined, 'hotfix', 'again').map((reason): Command => async (simulation) => {
      // Whoever skips tests has read which revision waits for them.
      simulation.catchUp('Agent');
      simulation.catchUp('AgentTest');
      await simulation.reconcile();
      simulation.skip(reason);
    }),
  ),
  many(
    1,
    always((simulation) => simulation.kill()),
  ),
  many(
    4,
    fc.constantFrom('Agent', 'AgentTest').map(
      (kind): Command =>
        (simulation) =>
          simulation.catchUp(kind),
    ),
  ),
  many(
    1,
    always((simulation) => void (simulation.secretVersion += 1)),
  ),
  many(
    1,
    fc.boolean().map(
      (there): Command =>
        (simulation) =>
          void (simulation.toolKey = there),
    ),
  ),
  many(
    1,
    fc.boolean().map(
      (available): Command =>
        (simulation) =>
          void (simulation.store.available = available),
    ),
  ),
  many(
    1,
    fc.constantFrom('before', 'after').map(
      (failure): Command =>
        (simulation) =>
          void (simulation.store.failure = failure as 'before'),
    ),
  ),
  many(
    2,
    fc.integer({ min: 1, max: 120_000 }).map(
      (ms): Command =>
        (simulation) =>
          simulation.clock.tick(ms),
    ),
  ),
);

describe('whatever is edited, tested, killed and unavailable in between', () => {
  it('no configuration goes into service that a required test failed or did not run for, unless its tests are skipped', async () => {
    const served = { tested: 0, untested: 0, unchanged: 0, skipped: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 10, maxLength: 60 }), async (commands) => {
        const simulation = new GateSimulation();
        for (const each of commands) await each(simulation);
        for (const { how } of simulation.served) served[how] += 1;
      }),
      { numRuns: 2_000 },
    );
    // Every way into service was looked at.
    for (const times of Object.values(served)) expect(times).toBeGreaterThan(10);
  });

  it('what passes goes into service once all is well again, and what fails does not', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 40 }), fc.constantFrom('passed', 'failed'), async (commands, verdict) => {
        const simulation = new GateSimulation();
        for (const each of commands) await each(simulation);
        simulation.kill();
        simulation.skip(undefined);
        simulation.editPrompt(9);
        const before = simulation.store.release?.revision;
        await simulation.settle(verdict);
        const { status } = simulation.agent;
        const runnable = simulation.required.every(({ spec }) => spec.suspend !== true && JSON.stringify(spec).includes('"x"'));
        const opens = simulation.required.length === 0 || (runnable && verdict === 'passed');
        expect(status?.servingRevision).toBe(simulation.store.release?.revision);
        expect(simulation.store.release?.revision === status?.desiredRevision).toBe(opens);
        if (!opens) expect(simulation.store.release?.revision).toBe(before);
        const tested = findCondition({ status: status! }, 'Tested')?.status;
        expect(tested === 'True').toBe(opens && simulation.required.length > 0);
        expect(tested === undefined).toBe(simulation.required.length === 0);
        expect(findCondition({ status: status! }, 'Ready')?.status).toBe(opens ? 'True' : 'False');
      }),
      { numRuns: 500 },
    );
  });
});

describe('the gate', () => {
  const now = Date.UTC(2026, 0, 1);
  const REVISION = 'ab'.repeat(32);
  const speech = { provider: 'openai' };
  const agent = storedObject('Agent', 'desk', { llm: { model: 'm' }, speechToText: speech, textToSpeech: speech }) as Stored<Agent>;
  const hours = storedObject('AgentTest', 'hours', {
    agentRefs: [{ name: 'desk' }],
    required: true,
    type: 'Conversation',
    conversation: [{ type: 'User', user: 'Hi', expect: [{ type: 'Answer', answer: { contains: ['x'] } }] }],
  }) as Stored<AgentTest>;
  const gateWith = (known: Pick<TestEvidence, 'newest' | 'pending'>, unchanged = false) => {
    const evidence = [{ configHash: 'new', testName: hours.metadata.name, digest: testDigest(hours.spec), ...known }];
    const view = { state: 'known', evidence } as const;
    return gateOf({ agent, tests: [hours], revision: REVISION, configHash: 'new', sound: true, current: false, unchanged, view, now });
  };

  it.each([
    ['ahead', now + 60_000, 'TestsRunning', 90_000],
    ['past for less than a worker takes', now - 29_999, 'TestsRunning', 1],
    ['past for longer', now - 30_000, 'TestsNotRun', 30_000],
  ])('says that a run was left once it is overdue, and looks again: due %s', (_when, dueAt, reason, recheckAfterMs) => {
    expect(gateWith({ pending: { runId: 'run_1', dueAt: new Date(dueAt) } })).toMatchObject({
      open: false,
      tested: { problems: [{ reason }] },
      request: [],
      recheckAfterMs,
    });
  });

  it.each([
    ['what was reported of it where it serves already', true, []],
    ['nothing of what another revision passed', false, [{ reason: 'TestsNotRun' }]],
  ])('says while the results cannot be read %s', (_what, current, problems) => {
    const passed = {
      type: 'Tested',
      status: 'True',
      reason: 'TestsPassed',
      message: 'the required AgentTest passed',
      lastTransitionTime: '',
    };
    const view = { state: 'unavailable', why: 'Postgres does not answer' } as const;
    const reported = { ...agent, status: { conditions: [passed] } } as Agent;
    const gate = gateOf({
      agent: reported,
      tests: [hours],
      revision: REVISION,
      configHash: 'new',
      sound: true,
      current,
      unchanged: current,
      view,
      now,
    });
    expect(gate).toMatchObject({ open: false, tested: { problems } });
  });

  it.each(['failed', 'error'] as const)('lets a rotated Secret through although a test of what serves %s by now', (verdict) => {
    const newest = { verdict, message: 'too long', runId: 'run_1', finishedAt: new Date(now), errors: 0 };
    const tested = { problems: [{ message: expect.stringContaining('too long') as string }] };
    expect(gateWith({ newest }, true)).toMatchObject({ open: 'unchanged', tested });
    expect(gateWith({ newest })).toMatchObject({ open: false, tested });
  });

  it('skips the tests of the revision that is named, and of no other, with one Event', () => {
    const gateOn = (revision: string, message = '') => {
      const release = { skipTests: { revision, reason: 'the model is away' } };
      const shown = { type: 'Tested', status: 'True', reason: 'TestsSkipped', message, lastTransitionTime: '' } as const;
      const on = { ...agent, spec: { ...agent.spec, release }, status: { observedGeneration: 1, conditions: [shown] } };
      const view = { state: 'known', evidence: [] } as const;
      return gateOf({
        agent: on,
        tests: [hours],
        revision: REVISION,
        configHash: 'new',
        sound: true,
        current: false,
        unchanged: false,
        view,
        now,
      });
    };
    const message = 'the required AgentTests of revision abababababab are skipped: the model is away';
    expect(gateOn(REVISION)).toMatchObject({
      open: 'skipped',
      tested: { good: { reason: 'TestsSkipped', message }, problems: [] },
      notices: [{ type: 'Warning', reason: 'TestsSkipped', message }],
    });
    expect(gateOn(REVISION, message).notices).toEqual([]);
    const other = { message: expect.stringContaining('(spec.release.skipTests is for revision cdcdcdcdcdcd)') as string };
    expect(gateOn('cd'.repeat(32))).toMatchObject({ open: false, tested: { problems: [other] }, notices: [] });
  });

  it('leaves the trace of skipping them where a person promoted what they failed, with one Event', () => {
    const finishedAt = new Date(now);
    const evidence = [
      {
        configHash: 'new',
        testName: hours.metadata.name,
        digest: testDigest(hours.spec),
        newest: { verdict: 'failed' as const, message: 'too long', runId: 'run_1', finishedAt, errors: 0 },
      },
    ];
    const gateOn = (on: Agent) =>
      gateOf({
        agent: on,
        tests: [hours],
        revision: REVISION,
        configHash: 'new',
        sound: true,
        current: true,
        unchanged: true,
        now,
        promotion: { by: 'ada', reason: 'the carrier', at: '2026-01-01T00:00:00.000Z' },
        view: { state: 'known', evidence },
      });
    const { tested, notices } = gateOn(agent);
    const message = expect.stringMatching(
      /^promoted by ada at 2026-01-01T00:00:00Z: the carrier, although AgentTest hours failed: too long/,
    );
    expect(tested).toMatchObject({ good: { reason: 'TestsSkipped', message }, problems: [] });
    expect(notices).toMatchObject([{ type: 'Warning', reason: 'TestsSkipped', message }]);
    const shown = { type: 'Tested', status: 'True', reason: 'TestsSkipped', message: '', lastTransitionTime: '' } as const;
    expect(gateOn({ ...agent, status: { observedGeneration: 1, conditions: [shown] } }).notices).toEqual([]);
  });
});
