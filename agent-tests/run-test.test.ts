import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { MAX_ATTEMPTS_KEPT, type TestAttemptResult, type TestVerdict } from './result.ts';
import { summaryOf } from './run-test.ts';

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
    expect(summaryOf(verdicts(...all), least)).toMatchObject(summary);
  });

  it('is never passed with fewer attempts that passed than are asked for, and keeps those that did not', () => {
    const verdict = fc.constantFrom<TestVerdict>('passed', 'failed', 'error');
    fc.assert(
      fc.property(fc.array(verdict, { minLength: 1, maxLength: 60 }), fc.nat(60), (all, least) => {
        const summary = summaryOf(verdicts(...all), least + 1);
        const passed = all.filter((one) => one === 'passed').length;
        expect(summary.verdict === 'passed').toBe(passed > least);
        expect(summary.attempts.length).toBe(Math.min(MAX_ATTEMPTS_KEPT, all.length));
        const bad = all.length - passed;
        expect(summary.attempts.filter((one) => one.verdict !== 'passed').length).toBe(Math.min(bad, MAX_ATTEMPTS_KEPT));
      }),
    );
  });
});
