import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { AgentRevisionConfig } from '../crds/agent-revision.ts';
import { agentTestKind } from '../crds/agent-test.ts';
import { FakeClock } from '../test/support/fake-clock.ts';
import type { AgentDriver, AgentTurn } from './driver.ts';
import type { AskedModel } from './models/ask.ts';
import { testUsage } from './models/test-models.ts';
import { MAX_ATTEMPTS_KEPT, type TestAttemptResult, type TestVerdict } from './result.ts';
import { runTest, summarizeAttempts } from './run-test.ts';

const attempt = (verdict: TestVerdict): TestAttemptResult => ({ verdict, checks: [], transcript: [], durationMs: 1 });
const verdicts = (...all: readonly TestVerdict[]) => all.map(attempt);

describe('the verdict of a test', () => {
  it.each([
    [['passed', 'passed'], 2, { verdict: 'passed', flaky: false, passed: 2, failed: 0 }],
    [['passed', 'failed'], 1, { verdict: 'passed', flaky: true, passed: 1, failed: 1 }],
    [['passed', 'failed'], 2, { verdict: 'failed', flaky: false, passed: 1, failed: 1 }],
    [['passed', 'error'], 2, { verdict: 'error', flaky: false, passed: 1, failed: 1 }],
    [['passed', 'error', 'passed'], 2, { verdict: 'passed', flaky: true, passed: 2, failed: 1 }],
  ] as const)('of %j with at least %d', (all, least, summary) => {
    expect(summarizeAttempts(verdicts(...all), least)).toMatchObject(summary);
  });

  it('is never passed with fewer attempts that passed than are asked for, and keeps those that did not', () => {
    const verdict = fc.constantFrom<TestVerdict>('passed', 'failed', 'error');
    fc.assert(
      fc.property(fc.array(verdict, { minLength: 1, maxLength: 60 }), fc.nat(60), (all, least) => {
        const summary = summarizeAttempts(verdicts(...all), least + 1);
        const passed = all.filter((one) => one === 'passed').length;
        expect(summary.verdict === 'passed').toBe(passed > least);
        expect(summary.attempts.length).toBe(Math.min(MAX_ATTEMPTS_KEPT, all.length));
        const bad = all.length - passed;
        expect(summary.attempts.filter((one) => one.verdict !== 'passed').length).toBe(Math.min(bad, MAX_ATTEMPTS_KEPT));
      }),
    );
  });
});

describe('a test that is interrupted', () => {
  const unused: AskedModel = { ask: () => Promise.reject(new Error('no model is asked')) };

  /** Answers nothing until it is closed. */
  function silentDriver() {
    const closed = Promise.withResolvers<AgentTurn>();
    const driver: AgentDriver = {
      start: async () => ({ messages: ['Hello'], toolCalls: [] }),
      say: () => closed.promise,
      press: () => closed.promise,
      close: async () => closed.resolve({ messages: [], toolCalls: [] }),
    };
    return driver;
  }

  function run(signal: AbortSignal, clock: FakeClock) {
    const config = {
      format: 1,
      name: 'receptionist',
      agent: { language: 'en-US', llm: {} },
      tools: [],
      knowledgeBase: null,
    } as unknown as AgentRevisionConfig;
    return runTest({
      test: {
        name: 'hours',
        spec: agentTestKind.spec.parse({
          agentRefs: [{ name: 'receptionist' }],
          type: 'Conversation',
          conversation: [{ type: 'User', user: 'When are you open?', expect: [{ type: 'Answer', answer: { contains: ['nine'] } }] }],
        }),
      },
      agent: { name: 'receptionist', revision: 'r1', config },
      searches: false,
      models: { judge: unused, user: unused, analysis: unused },
      usage: testUsage({ clock }),
      open: () => silentDriver(),
      clock,
      signal,
    });
  }

  it('has no result, and closes its conversation', async () => {
    const interruption = new AbortController();
    const running = run(interruption.signal, new FakeClock());
    await new Promise((resolve) => setImmediate(resolve));
    const reason = new Error('the worker stops');
    interruption.abort(reason);
    await expect(running).rejects.toBe(reason);
  });

  it('by its own timeout is an error', async () => {
    const clock = new FakeClock();
    const running = run(new AbortController().signal, clock);
    await expect.poll(() => clock.timers).toBe(1);
    await clock.advance(120_000);
    expect(await running).toMatchObject({ verdict: 'error', attempts: [{ error: { path: 'spec.timeout' } }] });
  });
});
