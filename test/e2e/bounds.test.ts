/** Oversized objects are refused with words a person can act on, by both ways in. */
import { expect, inject, it } from 'vitest';

import { anAgent, anAgentRequest, aTool } from '../support/builders.ts';
import { stackClient } from '../support/stack.ts';

const client = stackClient(inject('stack'));
const prompt = 'word '.repeat(400_000);
const items = (length: number): readonly object[] => Array.from({ length }, () => ({ name: 'n', type: 'string' }));

it.each([
  [
    'a 2 MB prompt',
    anAgent('big', undefined, { llm: { provider: 'openai', model: 'm', systemPrompt: prompt } }),
    /[Tt]oo long|may not be more than|[Tt]oo large/,
  ],
  [
    '10,000 list items',
    anAgent('big', undefined, {
      requiredDynamicData: Array.from({ length: 10_000 }, (_, n) => `n${n}`),
    }),
    /must have at most 64 items/,
  ],
  [
    '10,000 agents of a tool',
    aTool('big', undefined, { agentRefs: Array.from({ length: 10_000 }, (_, n) => ({ name: `a${n}` })) }),
    /must have at most 256 items/,
  ],
  ['a 1 MB name', anAgent('n'.repeat(1_000_000)), /must be no more than 253|[Tt]oo long|may not be more than/],
  [
    'a 1 MB display name',
    anAgent('big', undefined, { displayName: 'n'.repeat(1_000_000) }),
    /may not be (more|longer) than 200|[Tt]oo long/,
  ],
])('kubectl: %s', async (_what, manifest, message) => {
  for (const mode of [['apply', '--server-side'], ['create']]) {
    const refused = await client.kubectl([...mode, '-f', '-'], { input: manifest, allowFailure: true });
    expect(refused.code).toBe(1);
    expect(refused.stderr.slice(-2_000)).toMatch(message);
  }
});

it.each([
  ['a 2 MB prompt', anAgentRequest('big', { llm: { model_name: 'm', system_prompt: prompt } }), 413, 'payload_too_large'],
  [
    'a prompt just above the limit',
    anAgentRequest('big', { llm: { model_name: 'm', system_prompt: 'x'.repeat(131_073) } }),
    422,
    'string_too_long',
  ],
  ['5,000 list items', anAgentRequest('big', { post_call_analysis: items(5_000) }), 422, 'too_long'],
  ['10,000 list items of two fields', anAgentRequest('big', { post_call_analysis: items(10_000) }), 413, 'payload_too_large'],
  ['a 1 MB name', anAgentRequest('n'.repeat(1_000_000)), 422, 'string_too_long'],
])('REST: %s', async (_what, body, status, code) => {
  const refused = await client.rest('POST', '/v2/ai-agents', body);
  expect(refused.status, refused.text.slice(0, 500)).toBe(status);
  expect(refused.text).toContain(code);
  expect(refused.text.length, 'the answer does not repeat the flood').toBeLessThan(4_096);
});
