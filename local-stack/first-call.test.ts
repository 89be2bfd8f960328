import { expect, it } from 'vitest';

import type { Console } from './console.ts';
import { makeFirstCall } from './first-call.ts';

async function callWith(script: string): Promise<{ readonly well: boolean; readonly lines: readonly string[] }> {
  const lines: string[] = [];
  const console: Console = { line: (text) => lines.push(text), status: () => undefined, close: () => undefined };
  const well = await makeFirstCall({
    agent: 'receptionist',
    parley: [process.execPath, '-e', script],
    env: process.env,
    record: '/tmp/first-call.ogg',
    console,
    stop: new AbortController().signal,
  });
  return { well, lines };
}

const printing = (...lines: readonly object[]): string => `for (const line of ${JSON.stringify(lines)}) console.log(JSON.stringify(line));`;

it('shows what was said, and where the recording is', async () => {
  const { well, lines } = await callWith(
    printing(
      { type: 'transcript', role: 'agent', text: 'Hello.', final: true },
      { type: 'transcript', role: 'user', text: 'what are', final: false },
      { type: 'transcript', role: 'user', text: 'what are your opening hours', final: true },
      { type: 'result', status: 'ended', reason: 'user_ended_call', recording: '/tmp/first-call.ogg' },
    ),
  );
  expect(well).toBe(true);
  expect(lines.slice(1)).toEqual(['    agent  Hello.', '    you    what are your opening hours', '    recording: /tmp/first-call.ogg']);
});

it('reports why it failed, and stops nothing', async () => {
  const refused = await callWith('console.error("parley: no call can be made: there is no media server\\n  → cure"); process.exit(1)');
  expect(refused.well).toBe(false);
  expect(refused.lines).toEqual([
    expect.stringMatching(/^! the first call .*\(no call can be made: there is no media server\).*tries again$/),
  ]);
  const failed = await callWith(
    `${printing({ type: 'result', status: 'error', reason: 'speech_recognition_error' })}; process.exitCode = 3`,
  );
  expect(failed.lines[0]).toContain('it ended as error: speech_recognition_error');
  const silent = await callWith(printing({ type: 'result', status: 'ended', reason: 'inactivity_timeout' }));
  expect(silent.well).toBe(false);
});
