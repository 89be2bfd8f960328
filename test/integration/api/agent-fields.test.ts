/** REST stores lookups and tools as they were meant, and refuses what it can't serve. */
import { describe, expect, it } from 'vitest';

import { smallAgent } from '../../../api/agents/examples.ts';
import { customToolBody } from '../../../api/tools/examples.ts';
import type { Agent, Tool } from '../../../crds/index.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { kubectlJson, organization, startFacade, type RestAnswer } from './facade.ts';

const facade = suiteFixture(startFacade);
const org = suiteFixture(() => organization(facade));

const made = async (fields: object = {}): Promise<RestAnswer['body']> => {
  const answer = await org.call('POST', '/v2/ai-agents', { ...smallAgent, ...fields });
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
};
const url = 'https://api.example.com/customers';
const lookups = (...items: object[]) => ({ dynamic_data_config: items.map((item) => Object.assign({ url }, item)) });
const refusedWith = async (fields: object): Promise<readonly { loc: unknown[]; msg: string }[]> => {
  const answer = await org.call('POST', '/v2/ai-agents', { ...smallAgent, ...fields });
  expect(answer.status, answer.text).toBe(422);
  return answer.body.detail;
};

describe('a lookup', () => {
  it.each([[null], [[1]], ['x'.repeat(4097)]])('is refused once for a value of its query that is none: %s', async (value) => {
    expect(await refusedWith(lookups({ query: { n: value } }))).toEqual([
      {
        type: 'value_error',
        loc: ['body', 'dynamic_data_config', 0, 'query', 'n'],
        msg: expect.stringMatching(/^Value error, must be a text.*, a number or a boolean$/),
      },
    ]);
  });

  it('keeps milliseconds, query values of every plain type, and the method whatever its case', async () => {
    const query = { limit: 5, ratio: 0.5, active: true, name: '{{name}}', empty: '' };
    const agent = await made(lookups({ timeout: 1, query, method: 'options' }, { timeout: 30_000, method: 'Head' }));
    expect(agent.dynamic_data_config).toMatchObject([
      { timeout: 1, query, method: 'OPTIONS' },
      { timeout: 30_000, method: 'HEAD' },
    ]);
    const path = `/v2/ai-agents/${agent.ai_agent_id}`;
    const { warnings, ...rest } = agent;
    expect(warnings).toHaveLength(3);
    const again = await org.call('PUT', path, (await org.call('GET', path)).body);
    expect([again.status, again.body]).toEqual([200, rest]);
    const { spec } = await kubectlJson<Agent>(['get', 'agent', agent.ai_agent_id, '-n', org.name]);
    expect(spec.dynamicData?.map(({ timeout, method }) => [timeout, method])).toEqual([
      ['1ms', 'OPTIONS'],
      ['30s', 'HEAD'],
    ]);
  });

  it.each([
    [0, 'greater than or equal to 1'],
    [-1, 'greater than or equal to 1'],
    [30_001, 'less than or equal to 30000'],
  ])('is refused with a timeout of %d', async (timeout, bound) => {
    const [detail] = await refusedWith(lookups({ timeout }));
    expect([detail?.loc, detail?.msg]).toEqual([['body', 'dynamic_data_config', 0, 'timeout'], `Input should be ${bound}`]);
  });

  it.each(['$[?(@.id==7)]', '$.a[', '$..a..b', '$.orders[0:1]'])('is refused with the path %s', async (data) => {
    const fields = lookups(
      {},
      {
        response_data: [
          { name: 'ok', data: '$.name' },
          { name: 'x', data },
        ],
      },
    );
    const [detail] = await refusedWith(fields);
    expect(detail?.loc).toEqual(['body', 'dynamic_data_config', 1, 'response_data', 1, 'data']);
    expect(detail?.msg).toContain(JSON.stringify(data));
  });

  it.each([{ query: { a: null } }, { query: { a: [1] } }, { query: { a: {} } }, { method: 'DELETE' }, { method: 'git' }])(
    'is refused with %j',
    async (item) => {
      expect((await refusedWith(lookups(item)))[0]?.loc.slice(0, 3)).toEqual(['body', 'dynamic_data_config', 0]);
    },
  );
});

it('choices that a question has no use for are named, and not kept', async () => {
  const agent = await made({ post_call_analysis: [{ type: 'number', name: 'guests', choices: ['2'] }] });
  expect(agent.warnings).toEqual(['post_call_analysis[0].choices has no effect with the type number']);
  expect(agent.post_call_analysis).toEqual([{ type: 'number', name: 'guests', examples: [], choices: [] }]);
});

it('an unknown provider of the model is refused with the known ones', async () => {
  expect(await refusedWith({ llm: { model_name: 'm', model_provider: 'opnai' } })).toEqual([
    {
      type: 'value_error',
      loc: ['body', 'llm', 'model_provider'],
      msg: 'Value error, "opnai" is not a known provider; use one of openai, azure_openai, anthropic, google, groq, openai_compatible',
    },
  ]);
});

it('"" leaves unset whatever null does, and a list or a number stays as strict as before', async () => {
  const agent = await made({
    welcome_message: '',
    webhook_url: '',
    language_code: '',
    max_call_duration_seconds: '',
    ambient_sound: '',
    llm: { ...smallAgent.llm, api_key: '', base_url: '', model_provider: '', max_tokens: '' },
  });
  const plain = await made();
  const { ai_agent_id: _id, llm, ...rest } = agent;
  expect(plain).toMatchObject(rest);
  expect(plain.llm).toMatchObject({ ...llm, llm_id: expect.any(String) });
  const path = `/v2/ai-agents/${agent.ai_agent_id}`;
  const set = await org.call('PUT', path, {
    welcome_message: 'Hi',
    webhook_url: 'https://hooks.example.com',
    max_call_duration_seconds: 60,
  });
  expect(set.body).toMatchObject({ welcome_message: 'Hi', max_call_duration_seconds: 60 });
  const cleared = await org.call('PUT', path, { welcome_message: '', webhook_url: '', max_call_duration_seconds: '' });
  expect(cleared.body).toEqual(agent);
  expect((await org.call('PUT', path, { agent_name: '' })).status).toBe(422);
  expect((await org.call('PUT', path, { dynamic_data_config: '' })).status).toBe(422);
});

describe('tool_id', () => {
  const named = (tool_id: string, name: string) => ({
    ...customToolBody,
    tool_id,
    function_tool: { ...customToolBody.function_tool, name },
  });

  it('names a new tool where it is free, and is 409 where it is taken', async () => {
    const [a, b] = [await made(), await made()];
    const tools = (agent: RestAnswer['body']) => `/v2/ai-agents/${agent.ai_agent_id}/custom-tools`;
    const first = await org.call('POST', tools(a), named('find-booking', 'one'));
    expect([first.status, first.body.tool_id]).toEqual([201, 'find-booking']);
    expect((await org.call('GET', `${tools(a)}/find-booking`)).body).toEqual(first.body);
    for (const agent of [a, b]) {
      const second = await org.call('POST', tools(agent), named('find-booking', 'two'));
      expect([second.status, second.body.error, second.body.message]).toEqual([409, 'conflict', expect.stringContaining('find-booking')]);
    }
    expect((await org.call('GET', `${tools(a)}/find-booking`)).body).toEqual(first.body);
    for (const dry of ['?dry_run=true', '']) {
      const builtin = { tool_name: 'transfer_call', transfer_to: '+15550100', tool_id: 'front.desk' };
      const answer = await org.call('POST', `/v2/ai-agents/${b.ai_agent_id}/builtin-tools${dry}`, builtin);
      expect([answer.status, answer.body.tool_id]).toEqual([201, 'front.desk']);
    }
    for (const bad of ['Find', 'a b', '-a', 'a_b', 'a'.repeat(254)]) {
      const answer = await org.call('POST', tools(a), named(bad, 'three'));
      expect([answer.status, answer.body.detail[0].loc]).toEqual([422, ['body', 'tool_id']]);
    }
    const racing = await Promise.all(['p', 'q', 'r'].map((name) => org.call('POST', tools(a), named('race', name))));
    expect(racing.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([201, 409, 409]);
  });

  it('is that of the path in an update', async () => {
    const agent = await made();
    const tools = `/v2/ai-agents/${agent.ai_agent_id}/custom-tools`;
    const { body: tool } = await org.call('POST', tools, named('mine', 'mine'));
    expect((await org.call('PUT', `${tools}/mine`, tool)).status).toBe(200);
    const renamed = await org.call('PUT', `${tools}/mine`, { ...tool, tool_id: 'yours' });
    expect([renamed.status, renamed.body.detail?.[0].loc]).toEqual([422, ['body', 'tool_id']]);
  });

  it('means the same in llm.tools', async () => {
    const listed = async (agent: RestAnswer['body'], ...tools: object[]) =>
      org.call('PUT', `/v2/ai-agents/${agent.ai_agent_id}`, { llm: { tools } });
    const agent = await made({ llm: { ...smallAgent.llm, tools: [named('inline', 'inline')] } });
    expect(agent.llm.tools.map((tool: { tool_id: string }) => tool.tool_id)).toEqual(['inline']);
    // The agent's own tool is updated.
    const updated = await listed(agent, { ...named('inline', 'inline'), tool_start_message: 'Hold on' });
    expect([updated.status, updated.body.llm.tools[0].tool_start_message]).toEqual([200, 'Hold on']);
    // Another agent attaches the tool as it is, and can't change it so.
    const other = await made();
    const changed = await listed(other, { ...named('inline', 'inline'), tool_start_message: 'Stolen' });
    expect([changed.status, changed.body.error]).toEqual([409, 'conflict']);
    expect((await listed(other, ...updated.body.llm.tools)).status).toBe(200);
    expect((await listed(other, { tool_id: 'inline' })).status).toBe(200);
    const { spec } = await kubectlJson<Tool>(['get', 'tool', 'inline', '-n', org.name]);
    expect([spec.messages?.start, spec.agentRefs?.length]).toEqual(['Hold on', 2]);
    // A tool that is attached by now is the other agent's as well.
    expect((await listed(other, { ...named('inline', 'inline'), tool_start_message: 'Ours' })).status).toBe(200);
    expect((await listed(agent, { tool_id: 'nothing' })).body.detail[0].loc).toEqual(['body', 'llm', 'tools', 0, 'tool_id']);
    expect((await listed(agent, named('No_Name', 'x'))).body.detail[0].loc).toEqual(['body', 'llm', 'tools', 0, 'tool_id']);
  });
});

it('runtime parameters keep their type, and whether they are required', async () => {
  const agent = await made({ llm: { ...smallAgent.llm, required_dynamic_data: ['guest', 'x'] } });
  const tools = `/v2/ai-agents/${agent.ai_agent_id}/custom-tools`;
  const { api } = customToolBody.additional_tool_info;
  const runtime = {
    guest: { description: 'Who calls.', type: 'integer', required: true },
    plain: { value: '{{x}}' },
  };
  const body = { ...customToolBody, additional_tool_info: { api: { ...api, method: 'head', parameters: { runtime_params: runtime } } } };
  const tool = await org.call('POST', tools, body);
  expect([tool.status, tool.body.warnings, tool.body.additional_tool_info.api]).toMatchObject([
    201,
    undefined,
    { method: 'HEAD', parameters: { runtime_params: runtime } },
  ]);
  const path = `${tools}/${tool.body.tool_id}`;
  expect((await org.call('PUT', path, tool.body)).body).toEqual(tool.body);
  const { spec } = await kubectlJson<Tool>(['get', 'tool', tool.body.tool_id, '-n', org.name]);
  expect(spec.custom?.http.runtimeParams).toEqual({
    guest: { description: 'Who calls.', type: 'integer', required: true },
    plain: { value: '{{x}}' },
  });
});
