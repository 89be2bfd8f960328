/** REST reports addresses that can't be called, and other values that only the whole object shows to be wrong, each once. */
import { randomInt } from 'node:crypto';

import { beforeAll, describe, expect, it } from 'vitest';

import { organization, startFacade, type RestAnswer } from './facade.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';

const least = { agent_name: 'Desk', llm: { model_name: 'gpt-4o-mini' }, stt: { provider: 'deepgram' }, tts: { provider: 'cartesia' } };
const parameters = { properties: { id: { type: 'string' } }, required: ['id'] };
const tool = (name: string, endpoint: string) => ({ function_tool: { name, parameters }, additional_tool_info: { api: { endpoint } } });
const noHost =
  'Value error, is not an address that can be called: after http:// or https:// a host is needed, as in https://example.com/path';

const facade = suiteFixture(startFacade);
const org = suiteFixture(() => organization(facade));
let agents: string;
beforeAll(async () => {
  agents = '/v2/ai-agents';
});

function issuesOf({ status, body }: RestAnswer): readonly string[] {
  expect(status).toBe(422);
  return body.detail.map(({ loc, type, msg }: { loc: string[]; type: string; msg: string }) => `${loc.join('.')} ${type} ${msg}`);
}

describe('an address without a host that can be called', () => {
  it('is refused wherever an agent has one, all at once', async () => {
    const answer = await org.call('POST', agents, {
      ...least,
      llm: { model_name: 'm', base_url: 'https://[', tools: [tool('a', 'https://example.com'), tool('b', 'http://[x')] },
      webhook_url: 'https://exa mple.com',
      dynamic_data_config: [{ url: 'https://example.com/a' }, { url: 'http://example.com\\[' }],
    });
    expect(issuesOf(answer)).toEqual(
      expect.arrayContaining(
        [
          'body.llm.base_url',
          'body.webhook_url',
          'body.dynamic_data_config.1.url',
          'body.llm.tools.1.additional_tool_info.api.endpoint',
        ].map((loc) => `${loc} value_error ${noHost}`),
      ),
    );
    expect(answer.body.detail).toHaveLength(4);
  });

  it('is refused by the pattern of the resource where nothing follows the scheme', async () => {
    const pattern = "string_pattern_mismatch String should match pattern '^https?://.+'";
    const answer = await org.call('POST', agents, { ...least, llm: { model_name: 'm', tools: [tool('a', 'http://')] } });
    expect(issuesOf(answer)).toEqual([`body.llm.tools.0.additional_tool_info.api.endpoint ${pattern}`]);
    expect(issuesOf(await org.call('POST', agents, { ...least, webhook_url: 'https://' }))).toEqual([`body.webhook_url ${pattern}`]);
  });

  it('is refused in a tool of its own, and credentials are shown the way to a header', async () => {
    const { body: agent } = await org.call('POST', agents, least);
    const all = `${agents}/${agent.ai_agent_id}/custom-tools`;
    const at = 'body.additional_tool_info.api.endpoint value_error';
    expect(issuesOf(await org.call('POST', all, tool('a', 'http://[')))).toEqual([`${at} ${noHost}`]);
    const { body: made } = await org.call('POST', all, tool('a', 'https://{{region}}.example.com:{{port}}/{id}'));
    expect(made.additional_tool_info.api.endpoint).toBe('https://{{region}}.example.com:{{port}}/{id}');
    const change = { additional_tool_info: { api: { endpoint: 'https://user:secret@example.com' } } };
    const refused = await org.call('PUT', `${all}/${made.tool_id}`, change);
    expect(issuesOf(refused)).toEqual([
      `${at} Value error, holds a user name or password, which anybody could read here; send credentials in a header`,
    ]);
  });
});

describe('a masked secret in a new tool', () => {
  it('is one failure, in words of the request', async () => {
    const { body: agent } = await org.call('POST', agents, least);
    const all = `${agents}/${agent.ai_agent_id}/builtin-tools`;
    const mail = { tool_name: 'send_email', from_email: 'desk@example.com', app_password: '********' };
    const reason = 'Value error, ******** stands for a stored secret, and none is stored here: send the secret itself';
    expect(issuesOf(await org.call('POST', all, mail))).toEqual([`body.app_password value_error ${reason}`]);
  });
});

describe('an address that leads inside', () => {
  const inside = ['169.254.169.254', '10.0.0.1', '[::1]', '[::ffff:10.0.0.1]', '0xa9fea9fe', '0251.254.0xa9fe', '[fd00::1]'];
  const uris = [...inside.map((host) => `sip:desk@${host}:5060`), 'sip:redis', 'sip:a@example.com;maddr=10.0.0.1'];

  it('is no webhook of an agent', async () => {
    const { body: agent } = await org.call('POST', agents, least);
    for (const url of [...inside.map((host) => `http://${host}/x`), 'http://example.com:25/', 'http://[fe80::1]/']) {
      for (const answer of [
        await org.call('POST', agents, { ...least, webhook_url: url }),
        await org.call('PUT', `${agents}/${agent.ai_agent_id}`, { webhook_url: url }),
        await org.call('PUT', `${agents}/${agent.ai_agent_id}?dry_run=true`, { webhook_url: url, agent_name: 'Other' }),
      ])
        expect(issuesOf(answer), url).toEqual([expect.stringMatching(/^body\.webhook_url value_error Value error, .*(PARLEY_EGRESS)/)]);
    }
    expect((await org.call('GET', `${agents}/${agent.ai_agent_id}`)).body.webhook_url).toBeUndefined();
  });

  it('is no provider, fallback, lookup or tool either, and each is named', async () => {
    const http = (host: string): string => `http://${host}/v1`;
    const listed = [
      tool('a', 'https://{{region}}.example.com/{id}'),
      tool('b', 'http://10.0.0.1/{id}?{{x y}}'),
      tool('c', 'http://{{host}}/'),
    ];
    const answer = await org.call('POST', agents, {
      ...least,
      llm: {
        model_name: 'm',
        base_url: http('10.0.0.1'),
        fallbacks: [
          { model_provider: 'openai', model_name: 'n' },
          { model_provider: 'openai', model_name: 'o', base_url: http('[::1]') },
        ],
        tools: listed,
      },
      dynamic_data_config: [{ url: 'https://example.com/{{caller id}}' }, { url: 'http://169.254.169.254/{{caller id}}' }],
    });
    expect(issuesOf(answer).map((issue) => issue.split(' ')[0])).toEqual([
      'body.llm.base_url',
      'body.llm.fallbacks.1.base_url',
      'body.dynamic_data_config.1.url',
      'body.llm.tools.1.additional_tool_info.api.endpoint',
    ]);
    const { body: agent } = await org.call('POST', agents, least);
    const path = `${agents}/${agent.ai_agent_id}`;
    const { body: made } = await org.call('POST', `${path}/custom-tools`, tool('a', 'https://example.com'));
    const change = { additional_tool_info: { api: { endpoint: 'http://10.0.0.1' } } };
    for (const refused of [
      await org.call('PUT', `${path}/custom-tools/${made.tool_id}`, change),
      await org.call('PUT', path, { llm: { tools: [{ tool_id: made.tool_id, ...change }] } }),
    ])
      expect(issuesOf(refused)).toEqual([
        expect.stringMatching(/^body\.(llm\.tools\.0\.)?additional_tool_info\.api\.endpoint .*10\.0\.0\.1/),
      ]);
    const test = {
      name: 'Hours',
      ai_agent_ids: [agent.ai_agent_id],
      conversation: [{ user: 'Hi' }],
      judge: { model_provider: 'openai', model_name: 'm', base_url: http('10.0.0.1') },
    };
    expect(issuesOf(await org.call('POST', '/v1/agent-tests', test))).toEqual([expect.stringContaining('10.0.0.1')]);
  });

  it('is no trunk of a number, nor is what is no address, and the number stays as it is', async () => {
    const sip_termination_uri = 'sip:trunk.example.com';
    const number = (): string => `+1${randomInt(1e12, 1e13)}`;
    const { body: made } = await org.call('POST', '/v1/phone-numbers', { phone_number: number(), sip_termination_uri });
    for (const uri of [...uris, 'https://example.com', '', 'our trunk', 'tel:+15550100', 'sip:trunk.example.com:25']) {
      for (const answer of [
        await org.call('POST', '/v1/phone-numbers', { phone_number: number(), sip_termination_uri: uri }),
        await org.call('PATCH', `/v1/phone-numbers/${made._id}`, { sip_termination_uri: uri, friendly_name: 'Other' }),
      ])
        expect(issuesOf(answer), uri).toEqual([expect.stringMatching(/^body\.sip_termination_uri value_error Value error, /)]);
    }
    expect((await org.call('GET', `/v1/phone-numbers/${made._id}`)).body).toEqual(made);
  });

  it('is no target for transfers', async () => {
    const { body: agent } = await org.call('POST', agents, least);
    const all = `${agents}/${agent.ai_agent_id}/builtin-tools`;
    const tool_name = 'transfer_call';
    const { body: made } = await org.call('POST', all, { tool_name, transfer_to: '+15550100' });
    for (const transfer_to of uris) {
      for (const answer of [
        await org.call('POST', all, { tool_name, transfer_to }),
        await org.call('PUT', `${all}/${made.tool_id}`, { tool_name, transfer_to }),
      ])
        expect(issuesOf(answer), transfer_to).toEqual([expect.stringMatching(/^body\.transfer_to value_error Value error, /)]);
    }
  });
});
