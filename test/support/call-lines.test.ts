import { expect, it } from 'vitest';

import { jsonReporter } from '../../cli/call/reporter.ts';
import { callLines, spokenByAgent } from './call-lines.ts';

function reported() {
  const lines: string[] = [];
  const out = { write: (line: string) => lines.push(...line.trimEnd().split('\n')) } as unknown as NodeJS.WritableStream;
  return { lines, reporter: jsonReporter({ out, err: out }, () => 0) };
}

it('the name of the agent, what it does and what it has begun to say are nothing that it has said', () => {
  const { lines, reporter } = reported();
  reporter.called({ id: 'call_1', agentName: 'receptionist' });
  reporter.agentState('speaking');
  reporter.line({ id: 'a', role: 'agent', text: 'Hel', final: false });
  reporter.line({ id: 'b', role: 'user', text: 'What are your opening hours?', final: true });
  reporter.note('the agent has not answered within 30 s');
  expect(lines).toHaveLength(5);
  expect(spokenByAgent(callLines(['debug: agent', ...lines]))).toEqual([]);
});

it('the welcome comes first, then the answers', () => {
  const { lines, reporter } = reported();
  reporter.line({ id: 'a', role: 'agent', text: 'Hello.', final: true });
  reporter.line({ id: 'b', role: 'user', text: 'What are your opening hours?', final: true });
  reporter.line({ id: 'c', role: 'agent', text: 'From nine to five.', final: true });
  expect(spokenByAgent(callLines(lines))).toEqual(['Hello.', 'From nine to five.']);
});
