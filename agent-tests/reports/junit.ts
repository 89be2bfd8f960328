/** Writes JUnit's XML, which CI servers show. */
import { firstProblem, problemLines, seconds, spokenLine, worstAttempt, type ReportedResult } from './report.ts';

/** Characters that XML cannot hold at all. */
// oxlint-disable-next-line no-control-regex -- they are what this is about
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

export function junitReport(results: readonly ReportedResult[], durationMs: number): string {
  const byAgent = [...Map.groupBy(results, ({ result }) => result.agent)];
  const suites = byAgent.map(([agent, own]) => {
    const time = own.reduce((sum, { result }) => sum + result.durationMs, 0);
    return `  <testsuite${attributes({ name: agent, ...counts(own), time: inSeconds(time) })}>\n${own.map(testcase).join('')}  </testsuite>\n`;
  });
  const all = attributes({ name: 'parley test', ...counts(results), time: inSeconds(durationMs) });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites${all}>\n${suites.join('')}</testsuites>\n`;
}

function counts(results: readonly ReportedResult[]) {
  const of = (verdict: string): number => results.filter(({ result }) => result.verdict === verdict).length;
  return { tests: results.length, failures: of('failed'), errors: of('error') };
}

function testcase(reported: ReportedResult): string {
  const { result, file, lineOf } = reported;
  const { test, agent, verdict, durationMs, flaky, passed, failed } = result;
  const attempt = worstAttempt(result);
  const line = lineOf('metadata.name');
  const head = attributes({ name: test, classname: agent, file, ...(line > 0 && { line }), time: inSeconds(durationMs) });
  const element = verdict === 'failed' ? 'failure' : 'error';
  const lines = attempt === undefined ? [] : problemLines(reported, attempt);
  const problem =
    verdict === 'passed'
      ? ''
      : `      <${element}${attributes({ message: attempt === undefined ? verdict : firstProblem(attempt), type: verdict })}>${text(lines.join('\n'))}</${element}>\n`;
  const said = (result.attempts[0]?.transcript ?? []).map(spokenLine).join('\n');
  const note = flaky ? `${passed} of ${passed + failed} attempts passed, in ${seconds(durationMs)}\n` : '';
  return `    <testcase${head}>\n${problem}      <system-out>${text(note + said)}</system-out>\n    </testcase>\n`;
}

const inSeconds = (ms: number): string => (ms / 1_000).toFixed(3);

function attributes(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${text(String(value)).replaceAll('"', '&quot;').replaceAll('\n', '&#10;')}"`)
    .join('');
}

function text(value: string): string {
  return value.replaceAll(FORBIDDEN, '').toWellFormed().replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
