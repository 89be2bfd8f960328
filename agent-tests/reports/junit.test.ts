import { expect, it } from 'vitest';

import type { TestAttemptResult, TestResult } from '../result.ts';
import { junitReport } from './junit.ts';

const attempt = (more: Partial<TestAttemptResult>): TestAttemptResult => ({
  verdict: 'passed',
  checks: [],
  transcript: [],
  durationMs: 5,
  ...more,
});
const reported = (test: string, more: Partial<TestResult>) => ({
  file: 'tests/t.yaml',
  lineOf: () => 7,
  result: {
    test,
    agent: 'a',
    revision: 'r',
    mode: 'text',
    verdict: 'passed',
    flaky: false,
    passed: 1,
    failed: 0,
    attempts: [attempt({})],
    durationMs: 1_500,
    ...more,
  } as const,
});

it('distinguishes passed, failed and what could not be evaluated, and is XML whatever was said', () => {
  const failed = attempt({
    verdict: 'failed',
    transcript: [{ role: 'agent', text: '<b>"Tom & Jerry"</b> \u0007\u{1F6B2}', atMs: 0 }],
    checks: [
      {
        path: 'spec.conversation[0].expect[0].judge',
        kind: 'judge',
        verdict: 'failed',
        expected: 'is polite',
        actual: 'a < b',
        reason: 'rude',
      },
    ],
  });
  const broken = attempt({ verdict: 'error', error: { path: 'spec.tools[0].name', message: 'no "x"' } });
  const xml = junitReport(
    [
      reported('good', {}),
      reported('bad', { verdict: 'failed', attempts: [failed] }),
      reported('broken', { verdict: 'error', attempts: [broken] }),
    ],
    2_000,
  );
  expect(xml.split('\n')).toEqual([
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites name="parley test" tests="3" failures="1" errors="1" time="2.000">',
    '  <testsuite name="a" tests="3" failures="1" errors="1" time="4.500">',
    '    <testcase name="good" classname="a" file="tests/t.yaml" line="7" time="1.500">',
    '      <system-out></system-out>',
    '    </testcase>',
    '    <testcase name="bad" classname="a" file="tests/t.yaml" line="7" time="1.500">',
    '      <failure message="spec.conversation[0].expect[0].judge: expected is polite, got a &lt; b" type="failed">agent │ &lt;b&gt;"Tom &amp; Jerry"&lt;/b&gt; \u{1F6B2}',
    'tests/t.yaml:7: spec.conversation[0].expect[0].judge',
    '  expected  is polite',
    '  got       a &lt; b',
    '  reason    rude</failure>',
    '      <system-out>agent │ &lt;b&gt;"Tom &amp; Jerry"&lt;/b&gt; \u{1F6B2}</system-out>',
    '    </testcase>',
    '    <testcase name="broken" classname="a" file="tests/t.yaml" line="7" time="1.500">',
    '      <error message="spec.tools[0].name: no &quot;x&quot;" type="error">tests/t.yaml:7: spec.tools[0].name: no "x"</error>',
    '      <system-out></system-out>',
    '    </testcase>',
    '  </testsuite>',
    '</testsuites>',
    '',
  ]);
});
