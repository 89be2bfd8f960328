/** Formats what all reports show of results. */
import type { TestAttemptResult, CheckResult, TestResult, TranscriptLine } from '../result.ts';

export interface ReportedResult {
  readonly result: TestResult;
  readonly file: string;
  /** Returns the line of a path in the AgentTest; 0 where the test is in no file. */
  readonly lineOf: (path: string) => number;
}

export interface ReportTotals {
  readonly passed: number;
  readonly failed: number;
  readonly errors: number;
  readonly flaky: number;
}

export function totalsOf(results: readonly Pick<TestResult, 'verdict' | 'flaky'>[]): ReportTotals {
  const count = (verdict: TestResult['verdict']): number => results.filter((result) => result.verdict === verdict).length;
  return { passed: count('passed'), failed: count('failed'), errors: count('error'), flaky: results.filter(({ flaky }) => flaky).length };
}

export function summaryLine({ passed, failed, errors, flaky }: ReportTotals, durationMs: number): string {
  const parts = [`${passed} passed`, `${failed} failed`, ...(errors > 0 ? [`${errors} ${errors === 1 ? 'error' : 'errors'}`] : [])];
  return `${parts.join(', ')}${flaky > 0 ? ` (${flaky} flaky)` : ''} in ${seconds(durationMs)}`;
}

export const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

/** Returns the attempt that says most about the failure; undefined where all passed. */
export function worstAttempt({ attempts }: TestResult): TestAttemptResult | undefined {
  return attempts.find(({ verdict }) => verdict !== 'passed');
}

export function firstProblem(attempt: TestAttemptResult): string {
  const { error } = attempt;
  if (error !== undefined) return error.path === undefined ? error.message : `${error.path}: ${error.message}`;
  const check = attempt.checks.find(({ verdict }) => verdict !== 'passed');
  return check === undefined ? '' : `${check.path}: expected ${check.expected}, got ${check.actual}`;
}

/** Lists the transcript up to the failure, and the expected and actual values. */
export function problemLines({ result, file, lineOf }: ReportedResult, attempt: TestAttemptResult): readonly string[] {
  const place = (path: string): string => (lineOf(path) === 0 ? `${file}: ${path}` : `${file}:${lineOf(path)}: ${path}`);
  const { error, transcript } = attempt;
  const failed = attempt.checks.filter(({ verdict }) => verdict !== 'passed');
  const attempts = result.passed + result.failed;
  return [
    ...(attempts > 1 ? [`${result.passed} of ${attempts} attempts passed; the first that did not:`] : []),
    ...transcript.map(spokenLine),
    ...failed.flatMap((check) => checkLines(check, place(check.path))),
    ...(error === undefined ? [] : [error.path === undefined ? error.message : `${place(error.path)}: ${error.message}`]),
  ];
}

function checkLines({ expected, actual, reason }: CheckResult, place: string): readonly string[] {
  return [place, `  expected  ${expected}`, `  got       ${actual}`, ...(reason === undefined ? [] : [`  reason    ${reason}`])];
}

export function spokenLine({ role, text, tool }: TranscriptLine): string {
  if (tool === undefined) return `${role.padEnd(5)} │ ${text}`;
  return `tool  │ ${text} → ${tool.error === undefined ? JSON.stringify(tool.result) : `error: ${tool.error}`}`;
}
