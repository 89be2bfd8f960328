/** One walk through everything with a client whose types are made from the OpenAPI document: what compiles here compiles for users. */
import createClient, { type Client } from 'openapi-fetch';
import openapiTypes from 'openapi-typescript';
import { readFile } from 'node:fs/promises';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { organization, startFacade, type Facade, type TestOrganization } from './facade.ts';
import type { components, paths } from './testdata/client-types.ts';

let facade: Facade;
let org: TestOrganization;
let client: Client<paths>;

const connect = (key: string): Client<paths> => createClient<paths>({ baseUrl: facade.url, headers: { authorization: `Bearer ${key}` } });

beforeAll(async () => {
  facade = await startFacade();
  org = await organization(facade);
  client = connect(org.key);
});
afterAll(() => facade.close());

describe('a typed client', () => {
  it('is made from what the facade serves', async () => {
    const served = await (await fetch(`${facade.url}/openapi.json`)).text();
    expect(await openapiTypes(JSON.parse(served))).toBe(await readFile(new URL('testdata/client-types.ts', import.meta.url), 'utf8'));
  });

  it('walks through the agents', async () => {
    const body: components['schemas']['AgentCreate'] = {
      agent_name: 'Typed',
      llm: { model_name: 'gpt-4o-mini', tools: [] },
      stt: { provider: 'deepgram' },
      tts: { provider: 'elevenlabs' },
      ambient_sound: 'cafe',
    };
    const made = await client.POST('/v2/ai-agents', { body });
    const agent = made.data;
    if (agent === undefined) throw new Error(JSON.stringify(made.error));
    expect(agent.ambient_sound).toBe('cafe');
    const agent_id = agent.ai_agent_id;

    const read = await client.GET('/v2/ai-agents/{agent_id}', { params: { path: { agent_id } } });
    expect(read.data).toEqual(agent);

    const stale = await client.PUT('/v2/ai-agents/{agent_id}', {
      params: { path: { agent_id }, header: { 'If-Match': '"1"' } },
      body: { welcome_message: 'Hi' },
    });
    expect(stale.response.status).toBe(412);
    const changed = await client.PUT('/v2/ai-agents/{agent_id}', {
      params: { path: { agent_id }, query: { force: true } },
      body: { llm: { model_temperature: 0.5 }, welcome_message: null },
    });
    expect(changed.data?.llm.model_temperature).toBe(0.5);

    const names: string[] = [];
    let page_token: string | null | undefined;
    do {
      const { data } = await client.GET('/v2/ai-agents', {
        params: { query: { page_size: 1, ...(page_token ? { page_token } : {}) } },
      });
      names.push(...(data?.data ?? []).map(({ agent_name }) => agent_name));
      page_token = data?.next_page_token;
    } while (page_token);
    expect(names).toEqual(['Typed']);

    const gone = await client.DELETE('/v2/ai-agents/{agent_id}', { params: { path: { agent_id } } });
    expect(gone.data?.message).toBe('The AI agent was deleted');
    const missing = await client.GET('/v2/ai-agents/{agent_id}', { params: { path: { agent_id } } });
    expect(missing.error).toEqual({ error: 'not_found', message: 'AI agent not found' });
  });

  it('refuses at compile time what the facade refuses', async () => {
    // @ts-expect-error -- page_size is a number
    const words = await client.GET('/v2/ai-agents', { params: { query: { page_size: 'many' } } });
    expect(words.response.status).toBe(422);
    // @ts-expect-error -- stt and tts are missing
    const little = await client.POST('/v2/ai-agents', { body: { agent_name: 'x', llm: { model_name: 'm' } } });
    expect(little.response.status).toBe(422);
    // @ts-expect-error -- there is no such address
    const nothing = await client.GET('/v2/nothing', {});
    expect((nothing as { response: Response }).response.status).toBe(404);
  });

  it('walks through the API keys', async () => {
    const made = await client.POST('/v1/api-keys/', { body: { name: 'typed', permissions: ['agents:read'] } });
    const key = made.data;
    if (key === undefined) throw new Error(JSON.stringify(made.error));
    const path = { key_id: key.key_id };
    expect((await connect(key.api_key).GET('/v2/ai-agents')).response.status).toBe(200);
    expect((await connect(key.api_key).GET('/v1/api-keys/')).response.status).toBe(403);
    expect((await client.GET('/v1/api-keys/', {})).data?.data.map(({ name }) => name)).toContain('typed');
    expect((await client.GET('/v1/api-keys/{key_id}', { params: { path } })).data?.revoked).toBe(false);
    expect((await client.POST('/v1/api-keys/{key_id}/revoke', { params: { path } })).data?.revoked).toBe(true);
  });

  it('reads what needs no key', async () => {
    expect((await client.GET('/healthz', { parseAs: 'text' })).data).toBe('ok\n');
    expect((await client.GET('/docs', { parseAs: 'text' })).data).toContain('<title>Parley API</title>');
  });
});
