/** Several clients delete one object at once: one of them did it, the others find nothing any more. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { kubectl, organization, startFacade, type Facade, type TestOrganization } from './facade.ts';

const agentBody = { agent_name: 'Desk', llm: { model_name: 'm' }, stt: { provider: 'deepgram' }, tts: { provider: 'cartesia' } };
const toolBody = (index: number) => ({
  function_tool: { name: `f${index}` },
  additional_tool_info: { api: { endpoint: 'https://example.com' } },
});

let replicas: readonly Facade[];
let org: TestOrganization;
let agent: string;
beforeAll(async () => {
  const first = await startFacade();
  replicas = [first, await startFacade({ database: first.database }), await startFacade({ database: first.database })];
  org = await organization(first);
  const made = await org.call('POST', '/v2/ai-agents', agentBody);
  expect(made.status, made.text).toBe(201);
  agent = made.body.ai_agent_id;
});
afterAll(async () => {
  for (const replica of replicas.toReversed()) await replica.close();
});

describe('an object that several replicas delete at once', () => {
  it.each([
    { what: 'agent', path: () => '/v2/ai-agents', body: () => agentBody, id: 'ai_agent_id' },
    { what: 'tool', path: () => `/v2/ai-agents/${agent}/custom-tools`, body: toolBody, id: 'tool_id' },
    {
      what: 'phone number',
      path: () => '/v1/phone-numbers',
      body: (index: number) => ({ phone_number: `+1555${Date.now() % 10_000_000}${index % 10}` }),
      id: '_id',
    },
  ])('is deleted by one of them: $what', async ({ path, body, id }) => {
    for (let round = 0; round < 8; round += 1) {
      const made = await org.call('POST', path(), body(round));
      expect(made.status, made.text).toBe(201);
      const address = `${path()}/${made.body[id]}`;
      const answers = await Promise.all(replicas.map((replica) => replica.call('DELETE', address, { key: org.key })));
      expect(
        answers.map(({ status }) => status).toSorted((a, b) => a - b),
        answers.map(({ text }) => text).join('\n'),
      ).toEqual([200, 404, 404]);
    }
  });

  it('is unknown to a PUT and a DELETE when it was deleted behind the facade', async () => {
    const { body: made } = await org.call('POST', '/v2/ai-agents', agentBody);
    const path = `/v2/ai-agents/${made.ai_agent_id}`;
    await Promise.all([
      kubectl(['delete', 'agent', made.ai_agent_id, '-n', org.name]),
      ...Array.from({ length: 10 }, async (_, index) => {
        const answer = await org.call('PUT', path, { welcome_message: `Hello ${index}` });
        expect([200, 404], answer.text).toContain(answer.status);
      }),
    ]);
    expect((await org.call('PUT', path, { welcome_message: 'Hello' })).status).toBe(404);
    expect((await org.call('DELETE', path)).status).toBe(404);
  });
});
