import { expect, it } from 'vitest';

import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import type { TestResult } from '../result.ts';
import { withoutPersonalData } from './evaluate.ts';

const CARD = '4242424242424242';

const resultWith = (card: string): TestResult => ({
  test: 'pays',
  agent: 'desk',
  revision: 'a'.repeat(64),
  mode: 'text',
  verdict: 'failed',
  flaky: false,
  passed: 0,
  failed: 1,
  attempts: [
    {
      verdict: 'failed',
      checks: [{ path: 'spec.conversation[0].expect[0]', kind: 'answer', verdict: 'failed', expected: 'thanks', actual: `It is ${card}.` }],
      transcript: [
        { role: 'user', text: card, atMs: 1_000 },
        { role: 'tool', text: `charge({"card":"${card}"})`, atMs: 2_000, tool: { name: 'charge', arguments: { card }, result: [card] } },
      ],
      durationMs: 3_000,
      callId: 'call_01890a5d-ac96-774b-bcce-b302099a8057',
    },
  ],
  durationMs: 3_000,
});

const agentWith = (redaction: AgentRevisionConfig['agent']['redaction']) =>
  ({ agent: { language: 'en-US', redaction } }) as unknown as Pick<AgentRevisionConfig, 'agent'>;

it('keeps of the attempts of a test what is kept of calls', () => {
  const kinds = agentWith({ kinds: ['Card', 'Phone'], byModel: false, recordings: 'Tone' });
  expect(withoutPersonalData(resultWith(CARD), [kinds], new FakeClock())).toEqual(resultWith('[card]'));
  expect(withoutPersonalData(resultWith(CARD), [agentWith(undefined)], new FakeClock())).toEqual(resultWith(CARD));
});
