import { describe, expect, it } from 'vitest';

import type { Tool } from '../../../crds/index.ts';
import { aTool, anAgent, anAgentRequest } from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { type RestAnswer, brief, canary, kubectl, kubectlJson, notLookedAt, organization, startFacade } from './facade.ts';

const facade = suiteFixture(startFacade);
const org = suiteFixture(() => organization(facade));

const makeAgent = async (of = org): Promise<string> =>
  (await of.call('POST', '/v2/ai-agents', anAgentRequest('A', { llm: { model_name: 'm', required_dynamic_data: ['phone'] } }))).body
    .ai_agent_id;
const stored = (id: string): Promise<Tool> => kubectlJson<Tool>(['get', 'tool', id, '-n', org.name]);
const ids = ({ body }: RestAnswer): string[] => body.data.map((each: { tool_id: string }) => each.tool_id);
const secretValues = async (id: string): Promise<string[]> => {
  const { data } = await kubectlJson<{ data?: Record<string, string> }>(['get', 'secret', `tool-${id}`, '-n', org.name]);
  return Object.values(data ?? {}).map((value) => Buffer.from(value, 'base64').toString());
};
const filledIn = {
  created_at: expect.stringMatching(/^\d{4}-.*Z$/),
  updated_at: expect.stringMatching(/^\d{4}-.*Z$/),
  state: notLookedAt,
};

/** Sets every field of the contract. */
const custom = (name: string, headers: Record<string, string> = { Accept: 'text/plain' }) => ({
  function_tool: {
    name,
    description: 'Looks an order up',
    parameters: {
      type: 'object',
      properties: { id: { type: 'string', description: 'which' } },
      required: ['id'],
      additionalProperties: false,
    },
  },
  additional_tool_info: {
    tool_type: 'custom',
    api: {
      endpoint: 'https://api.example.com/orders/{id}',
      headers,
      method: 'PATCH',
      parameters: {
        fixed_params: { tenant: { description: 'who', value: { a: [7, null] } } },
        runtime_params: { caller: { description: 'from the call', value: '{{phone}}' } },
      },
    },
  },
  tool_start_message: 'One moment',
  tool_delayed_message: 'Still at it',
  tool_complete_message: 'Done',
  tool_failed_message: 'That went wrong',
});
const messages = { tool_start_message: 's', tool_delayed_message: 'd', tool_complete_message: 'c', tool_failed_message: 'f' };
const builtin = {
  send_email: { tool_name: 'send_email', from_email: 'desk@example.com', app_password: 'hunter2 mail' },
  transfer_call: {
    tool_name: 'transfer_call',
    transfer_to: 'sip:desk@example.com',
    transfer_type: 'warm_transfer',
    display_phone_number: true,
  },
  book_calendar: { tool_name: 'book_calendar', event_type_id: 42, cal_api_key: 'hunter2 cal', timezone: 'Europe/Berlin' },
  check_calendar_availability: {
    tool_name: 'check_calendar_availability',
    event_type_id: 'team-event',
    cal_api_key: 'hunter2 cal',
    timezone: 'Asia/Dhaka',
  },
} as const;
const maskedBody = (body: object): object => ({
  ...body,
  ...('app_password' in body && { app_password: '********' }),
  ...('cal_api_key' in body && { cal_api_key: '********' }),
});

/** Returns a tool with an address of its own, and parameters where there are any. */
const asking = (name: string, endpoint: string, parameters?: object) => ({
  function_tool: { name, ...(parameters && { parameters }) },
  additional_tool_info: { api: { endpoint } },
});

describe('fields that are consistent only together', () => {
  const at = ['body', 'additional_tool_info', 'api', 'endpoint'];

  it('refuse a tool that could never be called, alone and with its agent', async () => {
    const all = `/v2/ai-agents/${await makeAgent()}/custom-tools`;
    const lost = asking('lost', 'https://a.example/{number}');
    const refused = await org.call('POST', all, lost);
    expect([refused.status, refused.body.detail]).toMatchObject([422, [{ type: 'value_error', loc: at }]]);
    expect(refused.body.detail[0].msg).toMatch(/holds "{number}", which nothing supplies.*to fixed_params or to runtime_params$/);
    const whole = await org.call('POST', '/v2/ai-agents', anAgentRequest('B', { llm: { model_name: 'm', tools: [lost] } }));
    expect([whole.status, whole.body.detail[0].loc]).toEqual([422, ['body', 'llm', 'tools', 0, ...at.slice(1)]]);
    const parameters = { properties: { number: {} }, required: ['numbr'] };
    const unknown = await org.call('POST', all, asking('lost', 'https://a.example', parameters));
    expect([unknown.status, unknown.body.detail]).toMatchObject([
      422,
      [{ loc: ['body', 'function_tool', 'parameters', 'required'], msg: expect.stringContaining('did you mean "number"?') }],
    ]);
  });

  it('are named in warnings where only some calls can lack something, and once', async () => {
    const agent = `/v2/ai-agents/${await makeAgent()}`;
    const parameters = { properties: { number: { type: 'string' } } };
    const made = await org.call(
      'POST',
      `${agent}/custom-tools`,
      asking('now_and_then', 'https://{{region}}.a.example/{number}', parameters),
    );
    const warnings = [
      expect.stringMatching(/^additional_tool_info\.api\.endpoint holds "{number}", and the parameters don't require "number"/),
      expect.stringMatching(/^additional_tool_info\.api\.endpoint holds "{{region}}", which is empty unless the call brings it/),
    ];
    expect([made.status, made.body.warnings]).toEqual([201, warnings]);
    const changed = await org.call('PUT', `${agent}/custom-tools/${made.body.tool_id}`, { tool_start_message: 'One moment, {{who}}.' });
    expect(changed.body.warnings).toEqual([expect.stringMatching(/^tool_start_message holds "{{who}}"/)]);
    const supplied = await org.call('PUT', agent, {
      llm: { required_dynamic_data: ['region', 'who', 'caller'] },
      welcome_message: '{{calle}}',
    });
    expect(supplied.body.warnings).toEqual([expect.stringMatching(/^welcome_message holds "{{calle}}".*did you mean "{{caller}}"\?$/)]);
    const lost = await org.call('PUT', agent, { llm: { required_dynamic_data: ['who', 'calle'] } });
    expect(lost.body.warnings).toEqual([
      expect.stringMatching(/^llm\.tools: now-and-then-\w+: additional_tool_info\.api\.endpoint holds "{{region}}"/),
    ]);
  });
});

describe('custom tools', () => {
  it('come back as they were sent, with and without the slash, and change only in what a PUT names', async () => {
    const agent = await makeAgent();
    const all = `/v2/ai-agents/${agent}/custom-tools`;
    const [a, b] = [await org.call('POST', `${all}/`, custom('one')), await org.call('POST', all, custom('two'))];
    for (const [answer, name] of [
      [a, 'one'],
      [b, 'two'],
    ] as const) {
      expect(answer.status, answer.text).toBe(201);
      expect(answer.body).toEqual({ tool_id: expect.stringMatching(new RegExp(`^${name}-[a-z2-7]{8}$`)), ...custom(name), ...filledIn });
      for (const slash of ['', '/']) {
        const read = await org.call('GET', `${all}/${answer.body.tool_id}${slash}`);
        expect([read.status, read.body]).toEqual([200, answer.body]);
        expect(read.headers.get('etag')).toBe(answer.headers.get('etag'));
      }
    }
    for (const slash of ['', '/'])
      expect((await org.call('GET', `${all}${slash}`)).body).toEqual({
        data: expect.arrayContaining([a.body, b.body]),
        next_page_token: null,
      });

    const path = `${all}/${a.body.tool_id}/`;
    const whole = await org.call('PUT', path, a.body);
    expect([whole.status, whole.body, whole.headers.get('etag')]).toEqual([200, a.body, a.headers.get('etag')]);
    const partial = await org.call('PUT', path, {
      function_tool: { description: null },
      additional_tool_info: { api: { method: null, parameters: { runtime_params: null } } },
      tool_start_message: null,
      tool_failed_message: 'Sorry',
    });
    const { function_tool: fn, additional_tool_info: info } = custom('one');
    expect(partial.body, partial.text).toEqual({
      ...a.body,
      function_tool: { ...fn, description: undefined },
      additional_tool_info: {
        ...info,
        api: { ...info.api, method: 'GET', parameters: { ...info.api.parameters, runtime_params: {} } },
      },
      tool_start_message: undefined,
      tool_failed_message: 'Sorry',
      updated_at: expect.any(String),
    });
    expect((await org.call('GET', path)).body).toEqual(partial.body);
    expect((await org.call('PUT', path, a.body)).body).toEqual({ ...a.body, updated_at: expect.any(String) });

    const small = { function_tool: { name: 'small' }, additional_tool_info: { api: { endpoint: 'http://x' } } };
    expect((await org.call('POST', all, small)).body).toMatchObject({
      function_tool: { name: 'small', parameters: {} },
      additional_tool_info: {
        tool_type: 'custom',
        api: { endpoint: 'http://x', headers: {}, method: 'GET', parameters: { fixed_params: {}, runtime_params: {} } },
      },
    });
    expect((await org.call('GET', `/v2/ai-agents/${agent}`)).body.llm.tools.map((tool: { tool_id: string }) => tool.tool_id)).toContain(
      a.body.tool_id,
    );
  });

  it('keep telling headers in a Secret, masked, unchanged where the mask comes back', async () => {
    const all = `/v2/ai-agents/${await makeAgent()}/custom-tools`;
    const [first, second] = [canary(), canary()];
    const made = await org.call('POST', all, custom('secretive', { Authorization: first, Accept: 'a' }));
    expect(made.body.additional_tool_info.api.headers).toEqual({ Authorization: '********', Accept: 'a' });
    const id = made.body.tool_id as string;
    const path = `${all}/${id}`;
    expect(await secretValues(id)).toEqual([first]);
    expect(JSON.stringify(await stored(id))).not.toContain(first);
    const same = await org.call('PUT', path, made.body);
    expect(same.headers.get('etag')).toBe(made.headers.get('etag'));
    const reader = { key: await org.keyWith('tools:read', 'secrets:read') };
    expect((await org.call('GET', path, undefined, reader)).body.additional_tool_info.api.headers.Authorization).toBe(first);
    const put = (headers: object) => org.call('PUT', path, { additional_tool_info: { api: { headers } } });
    expect((await put({ authorization: second })).body.additional_tool_info.api.headers).toEqual({ authorization: '********' });
    expect(await secretValues(id)).toEqual([second]);
    expect(brief(await put({ Cookie: '********' }))).toEqual(['body.additional_tool_info.api.headers.Cookie value_error']);
    expect(brief(await put({ Host: 'x' }))).toEqual(['body.additional_tool_info.api.headers.0.name value_error']);
    expect((await put({})).body.additional_tool_info.api.headers).toEqual({});
    expect(await secretValues(id)).toEqual([]);
    expect(facade.log()).not.toContain(first);
  });

  it('are refused with everything that is wrong', async () => {
    const all = `/v2/ai-agents/${await makeAgent()}/custom-tools`;
    expect(brief(await org.call('POST', `${all}?force=perhaps`, {}))).toEqual([
      'query.force bool_parsing',
      'body.function_tool missing',
      'body.additional_tool_info missing',
    ]);
    const bad = {
      function_tool: { name: 'no spaces', parameters: [] },
      additional_tool_info: { tool_type: 'other', api: { endpoint: 'ftp://x', method: 'TRACE', headers: { 'a b': 'x' } } },
      tool_start_message: 5,
    };
    expect(brief(await org.call('POST', all, bad))).toEqual([
      'body.function_tool.name string_pattern_mismatch',
      'body.function_tool.parameters dict_type',
      'body.additional_tool_info.tool_type literal_error',
      'body.additional_tool_info.api.endpoint string_pattern_mismatch',
      'body.additional_tool_info.api.headers.a b.[key] string_pattern_mismatch',
      'body.additional_tool_info.api.method literal_error',
      'body.tool_start_message string_type',
    ]);
    const unsound = { ...custom('unsound'), function_tool: { name: 'unsound', parameters: { type: 'object', properties: 5 } } };
    const answer = await org.call('POST', all, unsound);
    expect(answer.body.detail[0].loc.slice(0, 3)).toEqual(['body', 'function_tool', 'parameters']);
  });
});

describe('built-in tools', () => {
  it.each(Object.entries(builtin))('%s comes back as it was sent, masked', async (name, body) => {
    const all = `/v2/ai-agents/${await makeAgent()}/builtin-tools`;
    const sent = { ...body, tool_description: 'When asked', ...messages };
    const made = await org.call('POST', `${all}/`, sent);
    expect(made.status, made.text).toBe(201);
    expect(made.body).toEqual({
      tool_id: expect.stringMatching(new RegExp(`^${sent.tool_name.replaceAll('_', '-')}-[a-z2-7]{8}$`)),
      ...maskedBody(sent),
      ...filledIn,
    });
    const path = `${all}/${made.body.tool_id}`;
    for (const slash of ['', '/']) expect((await org.call('GET', path + slash)).body).toEqual(made.body);
    expect((await org.call('GET', all)).body.data).toEqual([made.body]);
    const whole = await org.call('PUT', `${path}/`, made.body);
    expect([whole.status, whole.body, whole.headers.get('etag')]).toEqual([200, made.body, made.headers.get('etag')]);
    const reader = { key: await org.keyWith('tools:read', 'secrets:read') };
    expect((await org.call('GET', path, undefined, reader)).body).toEqual({ ...made.body, ...sent });
    expect(JSON.stringify(await stored(made.body.tool_id))).not.toMatch(/hunter2/);
    const partial = await org.call('PUT', path, { tool_name: name, tool_description: null, tool_delayed_message: null });
    expect(partial.body).toEqual({
      ...made.body,
      tool_description: undefined,
      tool_delayed_message: undefined,
      updated_at: expect.any(String),
    });
    expect((await org.call('GET', path.replace('builtin', 'custom'))).status).toBe(404);
  });

  it('have their defaults, and their own fields change one by one', async () => {
    const all = `/v2/ai-agents/${await makeAgent()}/builtin-tools`;
    const transfer = await org.call('POST', all, { tool_name: 'transfer_call', transfer_to: '+15550100' });
    expect(transfer.body).toMatchObject({ transfer_type: 'cold_transfer', display_phone_number: false });
    const change = { tool_name: 'transfer_call', transfer_to: '+15550199', transfer_type: 'warm_transfer' };
    const changed = await org.call('PUT', `${all}/${transfer.body.tool_id}`, change);
    expect(changed.body).toMatchObject({ ...change, display_phone_number: false });
    const back = await org.call('PUT', `${all}/${transfer.body.tool_id}`, { tool_name: 'transfer_call', transfer_type: null });
    expect(back.body).toMatchObject({ transfer_to: '+15550199', transfer_type: 'cold_transfer' });

    const book = await org.call('POST', all, { tool_name: 'book_calendar', event_type_id: '7', cal_api_key: 'k1' });
    expect(book.body).toMatchObject({ event_type_id: 7, timezone: 'UTC' });
    const path = `${all}/${book.body.tool_id}`;
    const rotated = await org.call('PUT', path, {
      tool_name: 'book_calendar',
      cal_api_key: 'k2',
      event_type_id: 9,
      timezone: 'Asia/Tokyo',
    });
    expect(rotated.body).toMatchObject({ event_type_id: 9, timezone: 'Asia/Tokyo', cal_api_key: '********' });
    expect(await secretValues(book.body.tool_id)).toEqual(['k2']);
    expect((await org.call('PUT', path, { tool_name: 'book_calendar', timezone: null })).body).toMatchObject({
      event_type_id: 9,
      timezone: 'UTC',
    });
    expect(brief(await org.call('PUT', path, { tool_name: 'book_calendar', timezone: 'Mars/Base' }))).toEqual([
      'body.timezone value_error',
    ]);
  });

  it('take the fields of their own variant alone', async () => {
    const all = `/v2/ai-agents/${await makeAgent()}/builtin-tools`;
    expect(brief(await org.call('POST', all, {}))).toEqual(['body union_tag_not_found']);
    expect((await org.call('POST', all, { tool_name: 'juggle' })).body.detail).toEqual([
      {
        type: 'union_tag_invalid',
        loc: ['body'],
        msg: "Input tag 'juggle' found using 'tool_name' does not match any of the expected tags: 'send_email', 'transfer_call', 'book_calendar', 'check_calendar_availability'",
      },
    ]);
    expect(brief(await org.call('POST', all, { tool_name: 'send_email', transfer_to: '+15550100', future: 1 }))).toEqual([
      'body.send_email.from_email missing',
      'body.send_email.app_password missing',
      'body.send_email.transfer_to extra_forbidden',
    ]);
    expect(brief(await org.call('POST', all, { ...builtin.book_calendar, cal_api_key: '********', timezone: 'Mars/Base' }))).toEqual([
      'body.cal_api_key value_error',
    ]);
    const { body: mail } = await org.call('POST', all, builtin.send_email);
    const put = (body: unknown) => org.call('PUT', `${all}/${mail.tool_id}`, body);
    expect(brief(await put({ from_email: 'new@example.com' }))).toEqual(['body.tool_name missing']);
    expect((await put({ tool_name: 'transfer_call', transfer_to: null, from_email: 5 })).body.detail).toEqual([
      { type: 'literal_error', loc: ['body', 'tool_name'], msg: "Input should be 'send_email'" },
      { type: 'string_type', loc: ['body', 'from_email'], msg: 'Input should be a valid string' },
      { type: 'extra_forbidden', loc: ['body', 'transfer_to'], msg: 'Extra inputs are not permitted' },
    ]);
    expect(brief(await put({ tool_name: 'send_email', app_password: null }))).toEqual(['body.app_password string_type']);
    expect((await put({ tool_name: 'send_email', from_email: 'new@example.com', future: { x: 1 } })).body.from_email).toBe(
      'new@example.com',
    );
  });
});

describe('function names', () => {
  it('are unique within an agent, built-in ones too, and free at another', async () => {
    const [agent, other] = [await makeAgent(), await makeAgent()];
    const all = `/v2/ai-agents/${agent}/custom-tools`;
    const { body: one } = await org.call('POST', all, custom('same'));
    const again = await org.call('POST', all, custom('same'));
    expect([again.status, Object.keys(again.body), again.body.error]).toEqual([409, ['error', 'message'], 'conflict']);
    expect((await org.call('POST', `${all}?dry_run=true`, custom('same'))).status).toBe(409);
    expect((await org.call('POST', `/v2/ai-agents/${other}/custom-tools`, custom('same'))).status).toBe(201);
    const { body: two } = await org.call('POST', all, custom('different'));
    expect((await org.call('PUT', `${all}/${two.tool_id}`, { function_tool: { name: 'same' } })).status).toBe(409);
    expect((await org.call('PUT', `${all}/${one.tool_id}`, { function_tool: { name: 'same' } })).status).toBe(200);
    expect((await org.call('POST', `/v2/ai-agents/${agent}/builtin-tools`, builtin.transfer_call)).status).toBe(201);
    expect((await org.call('POST', `/v2/ai-agents/${agent}/builtin-tools`, builtin.transfer_call)).status).toBe(409);
    expect((await org.call('POST', all, custom('transfer_call'))).status).toBe(409);
    await org.call('DELETE', `${all}/${one.tool_id}`);
    expect((await org.call('POST', all, custom('same'))).status).toBe(201);
  });

  it('go to exactly one of many requests at once, on two replicas', async () => {
    const replica = await startFacade({ database: facade.database });
    try {
      const agent = await makeAgent();
      for (let round = 0; round < 5; round += 1) {
        const answers = await Promise.all(
          Array.from({ length: 8 }, (_, index) =>
            (index % 2 ? facade : replica).call('POST', `/v2/ai-agents/${agent}/custom-tools`, {
              body: custom(`contested_${round}`, { Authorization: 'x' }),
              key: org.key,
            }),
          ),
        );
        expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, ...Array.from({ length: 7 }, () => 409)]);
      }
      // A tool that the other replica took back goes from the list when the watch says so.
      await expect.poll(async () => ids(await org.call('GET', `/v2/ai-agents/${agent}/custom-tools`))).toHaveLength(5);
    } finally {
      await replica.close();
    }
  });
});

describe('a chosen tool_id', () => {
  it('goes to exactly one of many requests at once, on two replicas, with all that it brings', async () => {
    const replica = await startFacade({ database: facade.database });
    try {
      const agents = await Promise.all(Array.from({ length: 4 }, () => makeAgent()));
      for (let round = 0; round < 4; round += 1) {
        const id = `chosen-${round}`;
        const tool = (text: string) => ({ tool_id: id, ...custom(`f_${text}`, { Authorization: text }) });
        const requests = [
          ...agents.map((agent, n) => [`/v2/ai-agents/${agent}/custom-tools`, tool(`post_${n}`)] as const),
          ...agents.map((_, n) => {
            const llm = { model_name: 'm', tools: [tool(`inline_${n}`)] };
            return ['/v2/ai-agents', anAgentRequest('A', { llm })] as const;
          }),
        ];
        const answers = await Promise.all(
          requests.map(([path, body], index) => (index % 2 ? facade : replica).call('POST', path, { body, key: org.key })),
        );
        const winners = answers.filter(({ status }) => status === 201);
        expect([winners.length, answers.filter(({ status }) => status === 409).length]).toEqual([1, 7]);
        const agent = winners[0]?.body.ai_agent_id ?? agents[answers.findIndex(({ status }) => status === 201)];
        const { metadata, spec } = await stored(id);
        expect(spec.agentRefs).toEqual([{ name: agent }]);
        expect(metadata.ownerReferences).toMatchObject([{ kind: 'Agent', name: agent }]);
        expect([`f_${(await secretValues(id)).join()}`]).toEqual([spec.custom?.function.name]);
      }
    } finally {
      await replica.close();
    }
  });
});

describe('a new function name', () => {
  it('of a stored tool goes to exactly one of many, on two replicas, and the others keep theirs with all that they have', async () => {
    const replica = await startFacade({ database: facade.database });
    try {
      const agent = await makeAgent();
      const all = `/v2/ai-agents/${agent}/custom-tools`;
      // Reads the specs from the API server: a write of the other replica takes a moment to show here.
      const specs = async (): Promise<ReadonlyMap<string, Tool['spec']>> => {
        const { items } = await kubectlJson<{ items: Tool[] }>(['get', 'tools', '-n', org.name]);
        const own = items.filter(({ spec }) => spec.agentRefs?.some(({ name }) => name === agent));
        return new Map(own.map(({ metadata, spec }) => [metadata.name, spec]));
      };
      const tools = await Promise.all(
        Array.from({ length: 6 }, async (_, n) => (await org.call('POST', all, custom(`tool_${n}`, { Authorization: `old ${n}` }))).body),
      );
      for (let round = 0; round < 4; round += 1) {
        const before = await specs();
        const change = { function_tool: { name: `wanted_${round}` }, tool_start_message: `round ${round}` };
        const requests = [
          ...tools.map((tool) => ['PUT', `${all}/${tool.tool_id}`, change] as const),
          ['POST', all, custom(change.function_tool.name)] as const,
        ];
        const answers = await Promise.all(
          requests.map(([method, path, body], index) => (index % 2 ? facade : replica).call(method, path, { body, key: org.key })),
        );
        expect(answers.filter(({ status }) => status < 300)).toHaveLength(1);
        expect(answers.filter(({ status }) => status === 409)).toHaveLength(6);
        const after = await specs();
        expect([...after.values()].filter(({ custom: fn }) => fn?.function.name === change.function_tool.name)).toHaveLength(1);
        for (const [index, { tool_id: id }] of tools.entries())
          if (answers[index]?.status === 409) expect(after.get(id)).toEqual(before.get(id));
      }
    } finally {
      await replica.close();
    }
  });
});

describe('a tool', () => {
  it('is unknown under every other agent, organisation and kind of tool, all alike', async () => {
    const [agent, other] = [await makeAgent(), await makeAgent()];
    const { body: tool } = await org.call('POST', `/v2/ai-agents/${agent}/custom-tools`, custom('mine'));
    const theirs = await organization(facade);
    const theirAgent = await makeAgent(theirs);
    const { body: foreign } = await theirs.call('POST', `/v2/ai-agents/${theirAgent}/custom-tools`, custom('theirs'));
    const paths = [
      `${agent}/custom-tools/tool-absent`,
      `${agent}/custom-tools/NOT%20a%2Fname`,
      `${other}/custom-tools/${tool.tool_id}`,
      `absent/custom-tools/${tool.tool_id}`,
      `${theirAgent}/custom-tools/${foreign.tool_id}`,
      `${agent}/custom-tools/${foreign.tool_id}`,
      `${agent}/builtin-tools/${tool.tool_id}`,
    ];
    for (const path of paths) {
      for (const [method, body] of [['GET'], ['PUT', { tool_start_message: 'x' }], ['DELETE']] as const) {
        const answer = await org.call(method, `/v2/ai-agents/${path}`, body);
        expect([answer.status, answer.text], `${method} ${path}`).toEqual([404, '{"error":"not_found","message":"Tool not found"}']);
      }
    }
    for (const unknown of ['absent', theirAgent, 'NOT%20a%2Fname']) {
      const list = await org.call('GET', `/v2/ai-agents/${unknown}/custom-tools`);
      const post = await org.call('POST', `/v2/ai-agents/${unknown}/builtin-tools`, builtin.transfer_call);
      for (const answer of [list, post])
        expect([answer.status, answer.text]).toEqual([404, '{"error":"not_found","message":"AI agent not found"}']);
    }
    expect((await theirs.call('GET', `/v2/ai-agents/${theirAgent}/custom-tools/${foreign.tool_id}`)).body).toEqual(foreign);
  });

  it('leaves one agent and stays with the others; what no agent uses goes, with its Secret', async () => {
    const [agent, other] = [await makeAgent(), await makeAgent()];
    const { body: tool } = await org.call('POST', `/v2/ai-agents/${agent}/custom-tools`, custom('shared', { Authorization: 'x' }));
    await org.call('PUT', `/v2/ai-agents/${other}`, { llm: { tools: [{ tool_id: tool.tool_id }] } });
    const path = (of: string): string => `/v2/ai-agents/${of}/custom-tools/${tool.tool_id}`;
    const dryRun = await org.call('DELETE', `${path(agent)}?dry_run=true`);
    expect([dryRun.status, (await org.call('GET', path(agent))).status]).toEqual([200, 200]);
    expect((await org.call('DELETE', path(agent))).body).toEqual({ data: {}, message: expect.any(String) });
    expect((await org.call('GET', path(agent))).status).toBe(404);
    expect((await org.call('GET', path(other))).body.function_tool.name).toBe('shared');
    expect((await org.call('DELETE', path(other))).status).toBe(200);
    expect((await org.call('DELETE', path(other))).status).toBe(404);
    await expect
      .poll(
        () => kubectl(['get', `tool/${tool.tool_id}`, `secret/tool-${tool.tool_id}`, '-n', org.name, '--ignore-not-found', '-o', 'name']),
        {
          timeout: 60_000,
        },
      )
      .toBe('');
  });

  it('stays with those to whom kubectl gave it, when the agent that it was made for goes', async () => {
    const [agent, deleted, other] = [await makeAgent(), await makeAgent(), await makeAgent()];
    const left = [agent, deleted].map(async (made, index) => {
      const { body } = await org.call('POST', `/v2/ai-agents/${made}/custom-tools`, custom(`handed_on_${index}`, { Authorization: 'x' }));
      const [id, path] = [body.tool_id as string, '/spec/agentRefs/-'];
      await kubectl([
        'patch',
        'tool',
        id,
        '-n',
        org.name,
        '--type=json',
        '-p',
        JSON.stringify([{ op: 'add', path, value: { name: other } }]),
      ]);
      // The facade has seen the change of kubectl.
      await eventually(async () => expect((await org.call('GET', `/v2/ai-agents/${other}/custom-tools/${id}`)).status).toBe(200));
      if (made === agent) expect((await org.call('DELETE', `/v2/ai-agents/${made}/custom-tools/${id}`)).status).toBe(200);
      expect((await org.call('DELETE', `/v2/ai-agents/${made}`)).status).toBe(200);
      return id;
    });
    for (const id of await Promise.all(left)) {
      const { metadata, spec } = await stored(id);
      expect([metadata.ownerReferences, metadata.deletionTimestamp, spec.agentRefs]).toEqual([undefined, undefined, [{ name: other }]]);
      expect((await org.call('GET', `/v2/ai-agents/${other}/custom-tools/${id}`)).status).toBe(200);
    }
  });

  it('that is built in shows in llm.tools, and changes there in what it shows', async () => {
    const agent = await makeAgent();
    const { body: tool } = await org.call('POST', `/v2/ai-agents/${agent}/builtin-tools`, {
      ...builtin.transfer_call,
      tool_description: 'When asked',
    });
    const put = (item: object) => org.call('PUT', `/v2/ai-agents/${agent}`, { llm: { tools: [{ tool_id: tool.tool_id, ...item }] } });
    const [shown] = (await org.call('GET', `/v2/ai-agents/${agent}`)).body.llm.tools;
    expect(shown).toMatchObject({
      tool_id: tool.tool_id,
      tool_name: 'transfer_call',
      tool_description: 'When asked',
    });
    expect((await put(shown)).body.llm.tools).toEqual([shown]);
    const changed = { ...shown, tool_description: null, tool_start_message: 'I connect you' };
    expect((await put(changed)).body.llm.tools).toEqual([{ ...changed, tool_description: undefined }]);
    expect((await org.call('GET', `/v2/ai-agents/${agent}/builtin-tools/${tool.tool_id}`)).body).toMatchObject({
      ...builtin.transfer_call,
      tool_start_message: 'I connect you',
    });
    expect(brief(await put({ function_tool: { name: 'mine' } }))).toEqual(['body.llm.tools.0.function_tool value_error']);
    expect(brief(await put({ tool_start_message: 'a\0b' }))).toEqual(['body.llm.tools.0.tool_start_message value_error']);
  });

  it('that Git attached to another agent is not taken from it', async () => {
    const agent = await makeAgent();
    await kubectl(['apply', '--server-side', '--field-manager=gitops', '-f', '-'], anAgent('git-agent', org.name));
    const refs = [{ name: 'git-agent' }, { name: agent }];
    await kubectl(
      ['apply', '--server-side', '--field-manager=gitops', '-f', '-'],
      aTool('git-tool', org.name, { agentRefs: refs, description: 'note' }),
    );
    const path = `/v2/ai-agents/${agent}/custom-tools/git-tool`;
    const read = await org.call('GET', path);
    expect([read.status, read.body.function_tool.name]).toEqual([200, 'git-tool']);
    expect((await org.call('PUT', path, read.body)).headers.get('etag')).toBe(read.headers.get('etag'));
    const refused = await org.call('PUT', path, { function_tool: { name: 'renamed' }, tool_start_message: 'mine' });
    expect([refused.status, refused.body.conflicts]).toEqual([409, [{ field: 'function_tool.name', manager: 'gitops' }]]);
    expect((await org.call('PUT', path, { tool_start_message: 'mine' })).body.tool_start_message).toBe('mine');
    expect((await org.call('DELETE', path)).body.conflicts).toMatchObject([{ manager: 'gitops' }]);
    expect((await org.call('DELETE', `${path}?force=true`)).status).toBe(200);
    expect((await stored('git-tool')).spec.agentRefs).toEqual([{ name: 'git-agent' }]);
    const taken = await org.call('PUT', '/v2/ai-agents/git-agent/custom-tools/git-tool?force=true', { function_tool: { name: 'renamed' } });
    expect(taken.body.function_tool.name).toBe('renamed');
  });

  it('that kubectl made is deleted like one that REST made', async () => {
    const agent = await makeAgent();
    const name = `by-kubectl-${agent.slice(-4)}`;
    await kubectl(['create', '-f', '-'], aTool(name, org.name, { agentRefs: [{ name: agent }] }));
    await expect.poll(async () => ids(await org.call('GET', `/v2/ai-agents/${agent}/custom-tools`))).toEqual([name]);
    expect((await org.call('DELETE', `/v2/ai-agents/${agent}/custom-tools/${name}`)).status).toBe(200);
    expect(await kubectl(['get', 'tool', name, '-n', org.name, '--ignore-not-found', '-o', 'name'])).toBe('');
  });

  it('is refused where the agent has as many as its list takes, so that the list can be sent back', async () => {
    const agent = await makeAgent();
    const tools = Array.from({ length: 64 }, (_, index) => custom(`t${index}`));
    expect((await org.call('PUT', `/v2/ai-agents/${agent}`, { llm: { tools } })).status).toBe(200);
    for (const [path, body] of [
      ['custom-tools', custom('t64')],
      ['builtin-tools', builtin.transfer_call],
    ] as const) {
      const answer = await org.call('POST', `/v2/ai-agents/${agent}/${path}`, body);
      expect([answer.status, answer.body.message]).toEqual([409, 'the agent has 64 tools, the most it may have: delete one of them first']);
    }
    const { body: whole } = await org.call('GET', `/v2/ai-agents/${agent}`);
    expect((await org.call('PUT', `/v2/ai-agents/${agent}`, whole)).status).toBe(200);
  });

  it('answers If-Match, and changes nothing in a dry run', async () => {
    const all = `/v2/ai-agents/${await makeAgent()}/builtin-tools`;
    const dryRun = await org.call('POST', `${all}?dry_run=true`, builtin.send_email);
    expect(dryRun.body).toMatchObject(maskedBody(builtin.send_email));
    expect(ids(await org.call('GET', all))).toEqual([]);
    const made = await org.call('POST', all, builtin.send_email);
    const path = `${all}/${made.body.tool_id}`;
    const body = { tool_name: 'send_email', from_email: 'b@example.com', app_password: 'other' };
    expect((await org.call('PUT', `${path}?dry_run=true`, body)).body.from_email).toBe('b@example.com');
    expect([(await org.call('GET', path)).body, await secretValues(made.body.tool_id)]).toEqual([made.body, ['hunter2 mail']]);
    const stale = { headers: { 'if-match': '"1"' } };
    for (const answer of [await org.call('PUT', path, body, stale), await org.call('DELETE', path, undefined, stale)])
      expect([answer.status, answer.headers.get('etag')]).toEqual([412, made.headers.get('etag')]);
    const fresh = { headers: { 'if-match': made.headers.get('etag') ?? '' } };
    expect((await org.call('PUT', path, body, fresh)).status).toBe(200);
    expect((await org.call('DELETE', path, undefined, fresh)).status).toBe(412);
  });

  it('is listed in pages, complete and without doubles while others come and go', async () => {
    const all = `/v2/ai-agents/${await makeAgent()}/custom-tools`;
    const kept: string[] = [];
    for (let n = 0; n < 9; n += 1) kept.push((await org.call('POST', all, custom(`kept_${n}`))).body.tool_id as string);
    const seen: string[] = [];
    let token: string | null = null;
    for (let round = 0; round === 0 || token !== null; round += 1) {
      const { body: passing } = await org.call('POST', all, custom(`passing_${round}`));
      const page: RestAnswer = await org.call('GET', `${all}?page_size=2${token === null ? '' : `&page_token=${token}`}`);
      seen.push(...ids(page));
      token = page.body.next_page_token as string | null;
      await org.call('DELETE', `${all}/${passing.tool_id}`);
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(kept.filter((id) => !seen.includes(id))).toEqual([]);
    const { body } = await org.call('GET', `${all}?page_size=1`);
    for (const elsewhere of [all.replace('custom', 'builtin'), `/v2/ai-agents/${await makeAgent()}/custom-tools`])
      expect(brief(await org.call('GET', `${elsewhere}?page_token=${body.next_page_token}`))).toEqual(['query.page_token value_error']);
    expect(brief(await org.call('GET', `${all}?page_size=101`))).toEqual(['query.page_size less_than_equal']);
  });

  it('needs the permission for tools, not that for agents', async () => {
    const all = `/v2/ai-agents/${await makeAgent()}/custom-tools`;
    const [reads, writes, agents] = [await org.keyWith('tools:read'), await org.keyWith('tools:write'), await org.keyWith('agents:write')];
    const statuses = await Promise.all(
      [reads, writes, agents].map(async (key, index) => [
        (await org.call('GET', all, undefined, { key })).status,
        (await org.call('POST', all, custom(`by_${index}`), { key })).status,
      ]),
    );
    expect(statuses).toEqual([
      [200, 403],
      [200, 201],
      [403, 403],
    ]);
  });
});
