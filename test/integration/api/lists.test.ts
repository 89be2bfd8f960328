import { randomInt } from 'node:crypto';

import { describe, expect, it } from 'vitest';

import { anAgentRequest } from '../../support/builders.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { organization, startFacade } from './facade.ts';

const facade = suiteFixture(startFacade);
const org = suiteFixture(() => organization(facade));

const makeAgent = async (): Promise<string> =>
  (await org.call('POST', '/v2/ai-agents', anAgentRequest('Walked'))).body.ai_agent_id as string;

describe('the list of agents', () => {
  it('shows what was just written', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { body: agent } = await org.call('POST', '/v2/ai-agents', anAgentRequest(`Fresh ${round}`));
      const find = async () =>
        (await org.call('GET', '/v2/ai-agents?page_size=100')).body.data.find(
          (each: { ai_agent_id: string }) => each.ai_agent_id === agent.ai_agent_id,
        );
      expect(await find()).toEqual(agent);
      const { body: changed } = await org.call('PUT', `/v2/ai-agents/${agent.ai_agent_id}`, { welcome_message: `${round}` });
      expect(await find()).toEqual(changed);
      await org.call('DELETE', `/v2/ai-agents/${agent.ai_agent_id}`);
      expect(await find()).toBeUndefined();
    }
  });

  it.each([
    ['0', 'greater_than_equal', 'Input should be greater than or equal to 1'],
    ['101', 'less_than_equal', 'Input should be less than or equal to 100'],
    ['many', 'int_parsing', 'Input should be a valid integer, unable to parse string as an integer'],
  ])('page_size=%s: 422', async (size, type, msg) => {
    for (const path of ['/v2/ai-agents', '/v1/api-keys']) {
      expect((await org.call('GET', `${path}?page_size=${size}`)).body).toEqual({ detail: [{ type, loc: ['query', 'page_size'], msg }] });
    }
  });
});

/** Describes a list, and how something is made that it shows. */
interface Walked {
  readonly path: string;
  readonly make: () => Promise<string>;
}

async function walked(list: string): Promise<Walked> {
  if (list === 'agents') return { path: '/v2/ai-agents', make: makeAgent };
  let count = 0;
  const agent = await makeAgent();
  const path = list === 'phone numbers' ? '/v1/phone-numbers' : `/v2/ai-agents/${agent}/custom-tools`;
  const body = () =>
    list === 'phone numbers'
      ? { phone_number: `+1${randomInt(1e12, 1e13)}`, provider: 'native' }
      : { function_tool: { name: `f_${(count += 1)}` }, additional_tool_info: { api: { endpoint: 'http://x' } } };
  return {
    path,
    make: async () => {
      const made = await org.call('POST', path, body());
      expect(made.status, made.text).toBe(201);
      return (made.body.tool_id ?? made.body._id) as string;
    },
  };
}

describe.each(['agents', 'tools', 'phone numbers'])('a walk through the list of %s', (list) => {
  it('is complete and without doubles while others come and go', async () => {
    const { path, make } = await walked(list);
    const kept = await Promise.all(Array.from({ length: 30 }, make));
    const walk = new AbortController();
    const churn = (async () => {
      while (!walk.signal.aborted) {
        const passing = await Promise.all([make(), make()]);
        await Promise.all(passing.map((id) => org.call('DELETE', `${path}/${id}`)));
      }
    })();
    for (const size of [1, 7]) {
      const seen: string[] = [];
      let token: string | null = null;
      do {
        const { body, status, text } = await org.call('GET', `${path}/?page_size=${size}${token === null ? '' : `&page_token=${token}`}`);
        expect(status, text).toBe(200);
        expect(body.data.length).toBeLessThanOrEqual(size);
        seen.push(...body.data.map((each: Record<string, string>) => each['ai_agent_id'] ?? each['tool_id'] ?? each['_id']));
        token = body.next_page_token as string | null;
      } while (token !== null && seen.length < 1000);
      expect(new Set(seen).size).toBe(seen.length);
      expect(kept.filter((id) => !seen.includes(id))).toEqual([]);
    }
    walk.abort();
    await churn;
  });
});

describe('API keys', () => {
  it('are made once in clear, read, listed in pages and revoked', async () => {
    const other = await organization(facade);
    const made = await other.call('POST', '/v1/api-keys/', {
      name: 'ci',
      expiration_days: '7',
      permissions: ['agents:read', 'secrets:read'],
    });
    expect(made.status, made.text).toBe(201);
    const { api_key: clear, ...record } = made.body;
    expect(clear).toMatch(/^pk_[0-9A-Za-z]{8}_[0-9A-Za-z]{32,}_[0-9A-Za-z]+$/);
    expect(record).toEqual({
      key_id: expect.stringMatching(/^key_/),
      name: 'ci',
      permissions: ['agents:read', 'secrets:read'],
      expiration_date: expect.any(String),
      created_at: expect.any(String),
      revoked: false,
      user_id: 'user-1',
      created_by_user_id: 'user-1',
      created_by_key: expect.stringMatching(/^key_/),
      last_four: clear.slice(-4),
    });
    expect(Date.parse(record.expiration_date) - Date.parse(record.created_at)).toBe(7 * 86_400_000);
    expect((await other.call('GET', `/v1/api-keys/${record.key_id}/`)).body).toEqual(record);
    for (let n = 0; n < 4; n += 1) await other.call('POST', '/v1/api-keys', { name: `n${n}`, permissions: ['calls:read'] });
    const names: string[] = [];
    let token: string | undefined;
    do {
      const { body } = await other.call('GET', `/v1/api-keys?page_size=2${token === undefined ? '' : `&page_token=${token}`}`);
      names.push(...body.data.map((each: { name: string }) => each.name));
      token = body.next_page_token as string | undefined;
    } while (token !== undefined);
    expect(names).toEqual(['n3', 'n2', 'n1', 'n0', 'ci', 'test']);
    for (let time = 0; time < 2; time += 1) {
      const revoked = await other.call('POST', `/v1/api-keys/${record.key_id}/revoke/`);
      expect([revoked.status, revoked.body]).toEqual([200, { ...record, revoked: true }]);
    }
    expect(facade.log()).not.toContain(clear);
  });

  it('grant only what their maker holds, and only words that mean something', async () => {
    const limited = await org.keyWith('api_keys:write', 'agents:write');
    const make = (permissions: unknown) => org.call('POST', '/v1/api-keys', { name: 'x', permissions }, { key: limited });
    expect((await make(['agents:read', 'agents:write', 'api_keys:read'])).status).toBe(201);
    for (const beyond of ['*', 'secrets:read', 'tools:write'])
      expect([(await make([beyond])).status, (await make([beyond])).body.error]).toEqual([403, 'forbidden']);
    const wrong = await org.call('POST', '/v1/api-keys', { name: '', expiration_days: 366, permissions: ['agents:delete', 5] });
    expect(wrong.body.detail.map(({ type, loc }: { type: string; loc: unknown[] }) => `${loc.join('.')}: ${type}`)).toEqual([
      'body.name: string_too_short',
      'body.expiration_days: less_than_equal',
      'body.permissions.0: literal_error',
      'body.permissions.1: literal_error',
    ]);
    expect((await org.call('POST', '/v1/api-keys', { name: 'nul\u0000', permissions: ['*'] })).status).toBe(422);
  });
});
