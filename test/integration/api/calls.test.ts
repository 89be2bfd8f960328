import { AgentDispatchClient, RoomServiceClient, TokenVerifier } from 'livekit-server-sdk';
import { beforeAll, describe, expect, it } from 'vitest';

import { roomOf } from '../../../calls/names.ts';
import { limitsOf } from '../../../api/limits/limits-of.ts';
import { KubeError, type Transport } from '../../../kube/index.ts';
import { loadConfig } from '../../../platform/config/config.ts';
import type { CallMessage } from '../../../store/index.ts';
import { eventually } from '../../support/eventually.ts';
import { unlimited } from '../../support/limits.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { session } from '../store/support.ts';
import { mediaUrl, realMediaServer, serveAgent, someMediaServer } from './calls-support.ts';
import { brief, organization, startFacade, type TestOrganization } from './facade.ts';

const server = suiteFixture(realMediaServer);
const facade = suiteFixture(() => startFacade({ calls: { mediaServer: server } }));
const org = suiteFixture(() => organization(facade));

let revision: string;
beforeAll(async () => {
  revision = await serveAgent(facade.store, org.name, 'receptionist', { displayName: 'Receptionist' });
});

const create = (body: object, of: TestOrganization = org) => of.call('POST', '/v1/calls/create-web-call', body);
const untold = { events: () => [] };

async function freshOrganization(limit = 100): Promise<TestOrganization> {
  const fresh = await organization(facade);
  await facade.store.organizations.limitLiveCalls(fresh.name, limit);
  await serveAgent(facade.store, fresh.name, 'receptionist', { displayName: 'Receptionist' });
  return fresh;
}

describe('the end of a call on request', () => {
  it('frees the place of a call that no user has joined, closes its room, and is the same the second time', async () => {
    const fresh = await freshOrganization(1);
    const { body } = await create({ ai_agent_id: 'receptionist' }, fresh);
    expect((await create({ ai_agent_id: 'receptionist' }, fresh)).status).toBe(429);
    const path = `/v1/calls/${body._id}/end`;
    const reader = await fresh.keyWith('calls:read');
    expect((await facade.call('POST', path, { key: reader })).status).toBe(403);
    const first = await fresh.call('POST', path);
    expect([first.status, first.body]).toMatchObject([200, { call_status: 'ended', call_finish_reason: 'agent_ended_call', messages: [] }]);
    expect((await fresh.call('POST', path)).body).toEqual(first.body);
    const at = [server.url.replace(/^ws/, 'http'), server.apiKey, server.apiSecret] as const;
    expect(await new RoomServiceClient(...at).listRooms([roomOf(body._id)])).toEqual([]);
    expect((await create({ ai_agent_id: 'receptionist' }, fresh)).status).toBe(201);
  });

  it('concerns calls of the organisation only, and says so when the media server is away', async () => {
    const { body } = await create({ ai_agent_id: 'receptionist' });
    const other = await freshOrganization();
    expect((await other.call('POST', `/v1/calls/${body._id}/end`)).status).toBe(404);
    expect((await org.call('POST', '/v1/calls/call_x/end')).status).toBe(404);
    const away = await startFacade({ database: facade.database, calls: { mediaServer: someMediaServer } });
    try {
      const refused = await away.call('POST', `/v1/calls/${body._id}/end`, { key: org.key });
      expect([refused.status, refused.body.error]).toEqual([503, 'unavailable']);
    } finally {
      await away.close();
    }
    expect((await org.call('GET', `/v1/calls/${body._id}`)).body.call_status).toBe('registered');
  });

  it('is 404 for one that is deleted meanwhile', async () => {
    const { body } = await create({ ai_agent_id: 'receptionist' });
    const [holder, database] = [await session(facade.database.url), await session(facade.database.url)];
    await holder.query('BEGIN');
    await holder.query('DELETE FROM parley.calls WHERE id = $1', [body._id]);
    const ended = org.call('POST', `/v1/calls/${body._id}/end`);
    const waiting =
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'UPDATE parley.calls%'";
    await eventually(async () => expect((await database.query(waiting)).rowCount).toBe(1));
    await holder.query('COMMIT');
    expect(await ended).toMatchObject({ status: 404, body: { error: 'not_found', message: 'Call not found' } });
  });
});

describe('create-web-call', () => {
  it('answers a registered call with everything that it was given, and how to join', async () => {
    const metadata = { ticket: 4711, nested: { deep: [1, 'zwei', null] } };
    const { status, body, headers } = await create({ ai_agent_id: 'receptionist', metadata, native_llm_dynamic_data: { name: 'Ada' } });
    expect(status).toBe(201);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toMatchObject({
      call_type: 'web_call',
      call_status: 'registered',
      ai_agent_id: 'receptionist',
      ai_agent_name: 'Receptionist',
      agent_revision: revision,
      metadata,
      native_llm_dynamic_data: { name: 'Ada' },
      media_url: mediaUrl,
      messages: [],
    });
    expect((await org.call('GET', `/v1/calls/${body._id}`)).body).toEqual({ ...body, access_token: expect.any(String) });
  });

  it('keeps the agents that it may be handed over to, in the revisions that serve now', async () => {
    const fresh = await freshOrganization();
    const handoffs = (...names: readonly string[]) => names.map((name) => ({ agentRef: { name }, when: 'it suits' }));
    await serveAgent(facade.store, fresh.name, 'desk', { agent: { handoffs: handoffs('billing', 'gone') } });
    const former = await serveAgent(facade.store, fresh.name, 'billing', {
      displayName: 'Billing',
      agent: { handoffs: handoffs('refunds') },
    });
    const refunds = await serveAgent(facade.store, fresh.name, 'refunds', { displayName: 'Refunds' });
    const { body } = await create({ ai_agent_id: 'receptionist', override_ai_agent_id: 'desk' }, fresh);
    await serveAgent(facade.store, fresh.name, 'billing', { prompt: 'Changed.' });
    expect(await facade.store.calls.calls.others({ org: fresh.name, id: body._id })).toMatchObject([
      { agentName: 'billing', revision: former, canary: false, config: { displayName: 'Billing' } },
      { agentName: 'refunds', revision: refunds, canary: false, config: { displayName: 'Refunds' } },
    ]);
  });

  it('has its room and its agent from the beginning, made by the api; without a media server there is no call', async () => {
    const { body } = await create({ ai_agent_id: 'receptionist' });
    const at = [server.url.replace(/^ws/, 'http'), server.apiKey, server.apiSecret] as const;
    const name = roomOf(body._id);
    expect(await new RoomServiceClient(...at).listRooms([name])).toMatchObject([{ name, emptyTimeout: 360, departureTimeout: 20 }]);
    const dispatches = await new AgentDispatchClient(...at).listDispatch(name);
    expect(dispatches).toMatchObject([{ agentName: server.agentName, metadata: JSON.stringify({ call_id: body._id }) }]);
    const away = await startFacade({ database: facade.database, calls: { mediaServer: someMediaServer } });
    try {
      const fresh = await freshOrganization(5);
      const request = { key: fresh.key, body: { ai_agent_id: 'receptionist' } };
      const refused = await away.call('POST', '/v1/calls/create-web-call', request);
      expect([refused.status, refused.body.error]).toEqual([503, 'unavailable']);
      const { calls } = (await fresh.call('GET', '/v1/calls')).body;
      expect(calls).toMatchObject([{ call_status: 'error', call_finish_reason: 'native_platform_internal_error' }]);
    } finally {
      await away.close();
    }
  });

  it('shows the token of a registered call to its maker and to keys that make calls, and to no reader', async () => {
    const { body } = await create({ ai_agent_id: 'receptionist' });
    expect(body.access_token).toEqual(expect.any(String));
    const views = async (key: string) => {
      const [one, list] = await Promise.all([
        facade.call('GET', `/v1/calls/${body._id}`, { key }),
        facade.call('GET', '/v1/calls?call_status=registered', { key }),
      ]);
      const listed = list.body.calls.find(({ _id }: { readonly _id: string }) => _id === body._id);
      return [one.body, listed].map(({ access_token, media_url }) => [typeof access_token, media_url]);
    };
    expect(await views(await org.keyWith('calls:read', 'agents:write', 'recordings:read'))).toEqual([
      ['undefined', undefined],
      ['undefined', undefined],
    ]);
    const writer = await views(await org.keyWith('calls:write'));
    expect(writer).toEqual(writer.map(() => ['string', mediaUrl]));
  });

  it('gives a token that opens one room for ten minutes and says nothing but whose call it is', async () => {
    await serveAgent(facade.store, org.name, 'secretive', { prompt: 'The canary sings at midnight.' });
    const { body, headers } = await create({
      ai_agent_id: 'secretive',
      metadata: { pin: 'canary-pin' },
      native_llm_dynamic_data: { x: 'canary-x' },
    });
    const claims = await new TokenVerifier(server.apiKey, server.apiSecret).verify(body.access_token);
    expect(claims.sub).toBe(`user-${body._id}`);
    const answeredAt = Date.parse(headers.get('date')!) / 1000;
    expect(Math.round((claims.exp! - answeredAt) / 60)).toBe(10);
    expect(claims.video).toEqual({
      room: body._id.replace('_', '-'),
      roomJoin: true,
      roomCreate: false,
      roomList: false,
      roomAdmin: false,
      roomRecord: false,
      canPublish: true,
      canPublishSources: ['microphone'],
      canPublishData: false,
      canSubscribe: true,
      canUpdateOwnMetadata: false,
      hidden: false,
    });
    expect(Object.keys(claims).toSorted()).toEqual(['exp', 'iss', 'nbf', 'sub', 'video']);
    expect(JSON.stringify(claims)).not.toContain('canary');
    expect(JSON.stringify(claims)).not.toContain(org.name);
  });

  it('pins the revision that serves: an edit counts for the next call', async () => {
    const first = await serveAgent(facade.store, org.name, 'edited', { prompt: 'one', maxDuration: '1m' });
    const one = await create({ ai_agent_id: 'edited' });
    const second = await serveAgent(facade.store, org.name, 'edited', { prompt: 'two', maxDuration: '1h30m' });
    const two = await create({ ai_agent_id: 'edited' });
    const stored = await Promise.all([one, two].map(({ body }) => facade.store.calls.calls.get({ org: org.name, id: body._id })));
    expect(stored.map((call) => [call?.revision, call?.maxDurationMs])).toEqual([
      [first, 60_000],
      [second, 5_400_000],
    ]);
  });

  it('lets another agent talk', async () => {
    const standIn = await serveAgent(facade.store, org.name, 'stand-in', { required: ['order'] });
    const refused = await create({ ai_agent_id: 'receptionist', override_ai_agent_id: 'stand-in' });
    expect(refused.body.detail).toEqual([{ type: 'missing', loc: ['body', 'native_llm_dynamic_data', 'order'], msg: 'Field required' }]);
    const { body } = await create({ ai_agent_id: 'receptionist', override_ai_agent_id: 'stand-in', native_llm_dynamic_data: { order: 1 } });
    expect(body).toMatchObject({
      ai_agent_id: 'receptionist',
      ai_agent_name: 'Receptionist',
      override_ai_agent_id: 'stand-in',
      agent_revision: standIn,
    });
    expect((await create({ ai_agent_id: 'receptionist', override_ai_agent_id: 'absent' })).status).toBe(404);
  });

  it('is 422 with every required name that is missing, and leaves nothing behind', async () => {
    const fresh = await freshOrganization();
    await serveAgent(facade.store, fresh.name, 'asking', { required: ['a', 'b', 'c'] });
    const { status, body } = await create({ ai_agent_id: 'asking', native_llm_dynamic_data: { b: '', c: null } }, fresh);
    expect(status).toBe(422);
    expect(body.detail.map(({ loc }: { loc: string[] }) => loc.at(-1))).toEqual(['a', 'c']);
    expect((await fresh.call('GET', '/v1/calls')).body.total_count).toBe(0);
  });

  it('need not bring what the agent looks up itself', async () => {
    const dynamicData = [{ name: 'crm', url: 'https://crm.example.com/', response: [{ name: 'customer', path: '$.name' }] }];
    const requiredDynamicData = ['customer', 'order'];
    await serveAgent(facade.store, org.name, 'looks-up', { agent: { requiredDynamicData, dynamicData } });
    const refused = await create({ ai_agent_id: 'looks-up' });
    expect(refused.body.detail).toEqual([{ type: 'missing', loc: ['body', 'native_llm_dynamic_data', 'order'], msg: 'Field required' }]);
    expect((await create({ ai_agent_id: 'looks-up', native_llm_dynamic_data: { order: 1 } })).status).toBe(201);
  });

  it('knows no agent of another organisation, none that is gone, and none that can not be', async () => {
    const other = await freshOrganization();
    await serveAgent(facade.store, other.name, 'theirs');
    await facade.store.agentReleases.retire({ org: other.name, agentName: 'theirs' });
    const answers = [
      await create({ ai_agent_id: 'stand-in' }, other),
      await create({ ai_agent_id: 'theirs' }, other),
      await create({ ai_agent_id: 'agent-aaaaaaaaaaaaaaaa' }, other),
      await create({ ai_agent_id: '' }, other),
      await create({ ai_agent_id: 'no\u0000body' }, other),
      await create({ ai_agent_id: '../x' }, other),
    ];
    expect(answers.map(({ status, text }) => [status, text])).toEqual(answers.map(() => [404, answers[0]!.text]));
  });

  it('is 409 for an agent that was never taken into service, with the reason', async () => {
    const fresh = await freshOrganization();
    const agent = await fresh.call('POST', '/v2/ai-agents', {
      agent_name: 'New',
      llm: { model_name: 'm' },
      stt: { provider: 'openai' },
      tts: { provider: 'openai' },
    });
    const { status, body } = await create({ ai_agent_id: agent.body.ai_agent_id }, fresh);
    expect([status, body.error]).toEqual([409, 'conflict']);
    expect(body.message).toContain('taken into service');
  });

  it('waits a moment for an agent that was made just now', async () => {
    const fresh = await freshOrganization();
    const agent = await fresh.call('POST', '/v2/ai-agents', {
      agent_name: 'New',
      llm: { model_name: 'm' },
      stt: { provider: 'openai' },
      tts: { provider: 'openai' },
    });
    const asked = create({ ai_agent_id: agent.body.ai_agent_id }, fresh);
    await serveAgent(facade.store, fresh.name, agent.body.ai_agent_id);
    expect((await asked).status).toBe(201);
  });

  it('is 429 for the call too many, and leaves nothing behind', async () => {
    const fresh = await freshOrganization(3);
    const answers = await Promise.all(Array.from({ length: 8 }, () => create({ ai_agent_id: 'receptionist' }, fresh)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(5);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.headers.get('retry-after')).toBe('5');
    expect(refused?.body.error).toBe('concurrent_call_limit_reached');
    expect((await fresh.call('GET', '/v1/calls')).body.total_count).toBe(3);
    const made = answers.find(({ status }) => status === 201)!.body._id;
    await facade.store.calls.calls.end({ ...untold, org: fresh.name, id: made, reason: 'user_ended_call' });
    expect((await create({ ai_agent_id: 'receptionist' }, fresh)).status).toBe(201);
  });

  it('says what it lacks: a permission, a field, a media server', async () => {
    const reader = await org.keyWith('calls:read', 'agents:write');
    const path = '/v1/calls/create-web-call';
    expect((await facade.call('POST', path, { key: reader, body: { ai_agent_id: 'receptionist' } })).status).toBe(403);
    expect((await create({})).body.detail).toEqual([{ type: 'missing', loc: ['body', 'ai_agent_id'], msg: 'Field required' }]);
    const without = await startFacade({ database: facade.database });
    try {
      const { status, body } = await without.call('POST', path, { key: org.key, body: { ai_agent_id: 'receptionist' } });
      expect([status, body.error]).toEqual([503, 'unavailable']);
      expect(body.message).toContain('LIVEKIT_URL');
    } finally {
      await without.close();
    }
  });
});

describe('making calls', () => {
  it('goes on while the Kubernetes API is unavailable', async () => {
    const away = (): Promise<never> => Promise.reject(new KubeError({ code: 0, reason: 'Unreachable', message: 'away' }));
    const wrap = (transport: Transport): Transport => ({
      server: transport.server,
      request: away,
      stream: away,
      close: () => transport.close(),
    });
    const alone = await startFacade({ database: facade.database, wrap, calls: { mediaServer: await realMediaServer() }, ready: false });
    try {
      const fresh = await freshOrganization();
      const path = '/v1/calls/create-web-call';
      const { status, body } = await alone.call('POST', path, { key: fresh.key, body: { ai_agent_id: 'receptionist' } });
      expect([status, body.call_status]).toEqual([201, 'registered']);
      expect((await alone.call('GET', `/v1/calls/${body._id}`, { key: fresh.key })).status).toBe(200);
      expect((await alone.call('GET', '/v1/calls', { key: fresh.key })).body.total_count).toBe(1);
      // Whether this one exists is unknown now.
      expect((await alone.call('POST', path, { key: fresh.key, body: { ai_agent_id: 'absent' } })).status).toBe(503);
    } finally {
      await alone.close();
    }
  });

  it('is refused where others wait for their users, with the limit and the cure, until one of those has ended', async () => {
    const guarded = await startFacade({ database: facade.database, calls: { mediaServer: await realMediaServer(), unjoinedPercent: 50 } });
    try {
      const fresh = await freshOrganization(4);
      const key = await fresh.keyWith('calls:create');
      const made = (of: string) => guarded.call('POST', '/v1/calls/create-web-call', { key: of, body: { ai_agent_id: 'receptionist' } });
      const first = await made(key);
      expect(first.status).toBe(201);
      const refused = await made(key);
      expect([refused.status, refused.body.error, refused.headers.get('retry-after')]).toEqual([429, 'concurrent_call_limit_reached', '5']);
      expect(refused.body.message).toMatch(/^1 web calls of this API key wait for their users, and no more may: join or end one/);
      expect((await made(fresh.key)).status).toBe(201);
      expect((await made(await fresh.keyWith('calls:create'))).body.message).toContain('2 web calls of your organisation wait');
      expect((await guarded.call('POST', `/v1/calls/${first.body._id}/end`, { key: fresh.key })).status).toBe(200);
      expect((await made(key)).status).toBe(201);
    } finally {
      await guarded.close();
    }
  });

  it('has a limit of its own for all keys of an organisation, other than that of live calls', async () => {
    const calls = limitsOf(loadConfig({})).classes.find(({ name }) => name === 'calls')!;
    // The limit is so slow that nothing is refilled, however long the requests take.
    const limits = { ...unlimited, classes: [{ ...calls, limit: { perSecond: 1e-5, burst: 2 } }] };
    const strict = await startFacade({ database: facade.database, limits, calls: { mediaServer: await realMediaServer() } });
    try {
      const fresh = await freshOrganization();
      const keys = [fresh.key, await fresh.keyWith('calls:write')];
      const answers = [];
      for (let n = 0; n < 6; n += 1)
        answers.push(await strict.call('POST', '/v1/calls/create-web-call', { key: keys[n % 2], body: { ai_agent_id: 'receptionist' } }));
      const refused = answers.filter(({ status }) => status === 429);
      expect(refused).toHaveLength(4);
      expect(refused[0]?.body.error).toBe('rate_limited');
      expect(refused[0]?.headers.get('ratelimit-policy')).toContain('comment="calls"');
      expect((await strict.call('GET', '/v1/calls', { key: fresh.key })).status).toBe(200);
    } finally {
      await strict.close();
    }
  });
});

describe('a call', () => {
  it('shows what was said, how long it took and how it ended', async () => {
    const { body: made } = await create({ ai_agent_id: 'receptionist' });
    const ref = { org: org.name, id: made._id as string };
    const message = (seq: number, role: 'agent' | 'user', content: string): CallMessage => ({
      seq,
      role,
      content,
      spokenAt: new Date(seq * 1000),
      interrupted: false,
      sources: null,
    });
    const source = { knowledge_base: 'faq', document_id: 'd', chunk_id: 'd:0', filename: 'faq.txt', score: 0.5 };
    await facade.store.calls.calls.start({ ...untold, ...ref, jobId: 'j' });
    await facade.store.calls.log.add(ref, {
      messages: [message(2, 'user', 'Hi'), { ...message(1, 'agent', 'Hello'), agent: 'billing', interrupted: true, sources: [source] }],
      turns: [{ seq: 1, eou: 500, stt: 100, llmTtft: 300, ttsTtfb: 75, v2v: null }],
      toolCalls: [
        {
          seq: 5,
          agent: 'billing',
          name: 'look_up',
          arguments: { day: 1 },
          result: 'full',
          failed: true,
          beganAt: new Date(1500),
          durationMs: 40,
        },
        { seq: 4, name: 'search', arguments: null, result: '[]', failed: false, beganAt: new Date(1000), durationMs: 0 },
      ],
    });
    const { body: ongoing } = await org.call('GET', `/v1/calls/${ref.id}`);
    expect(ongoing).toMatchObject({ call_status: 'ongoing', call_start_time: expect.any(String) });
    for (const name of ['access_token', 'media_url', 'call_end_time', 'call_finish_reason']) expect(ongoing).not.toHaveProperty(name);
    const { call } = await facade.store.calls.calls.end({ ...untold, ...ref, reason: 'inactivity_timeout' });
    const { body } = await org.call('GET', `/v1/calls/${ref.id}`);
    expect(body).toMatchObject({
      call_status: 'ended',
      call_finish_reason: 'inactivity_timeout',
      messages: [
        {
          role: 'agent',
          agent_name: 'billing',
          content: 'Hello',
          timestamp: '1970-01-01T00:00:01.000Z',
          interrupted: true,
          sources: [source],
        },
        { role: 'user', content: 'Hi', timestamp: '1970-01-01T00:00:02.000Z', interrupted: false },
      ],
      tool_calls: [
        {
          name: 'search',
          agent_name: 'receptionist',
          result: '[]',
          is_error: false,
          timestamp: '1970-01-01T00:00:01.000Z',
          duration_ms: 0,
        },
        {
          name: 'look_up',
          agent_name: 'billing',
          arguments: { day: 1 },
          result: 'full',
          is_error: true,
          timestamp: '1970-01-01T00:00:01.500Z',
          duration_ms: 40,
        },
      ],
      turns: [
        { timestamp: '1970-01-01T00:00:01.000Z', agent_name: 'receptionist', eou: 500, stt: 100, llm_ttft: 300, tts_ttfb: 75, v2v: null },
      ],
    });
    expect(body.call_duration_seconds).toBe((call.endedAt!.getTime() - call.startedAt!.getTime()) / 1000);
    expect(body.messages[1]).not.toHaveProperty('agent_name');
    expect(body).not.toHaveProperty('direction');
    expect(body).not.toHaveProperty('access_token');
  });

  it('shows a phone call with its numbers', async () => {
    const id = 'call_01234567-89ab-7def-8123-456789abcdef';
    const phone = {
      callType: 'phone_call',
      direction: 'inbound',
      fromNumber: '+15550101',
      toNumber: '+15550100',
      sipCallId: 'sip-1',
    } as const;
    const agent = { agentName: 'receptionist', agentDisplayName: 'Receptionist', revision: 'a'.repeat(64) };
    await facade.store.calls.calls.register({ org: org.name, id, ...phone, ...agent, maxDurationMs: 1000, room: 'call-x' });
    expect((await org.call('GET', `/v1/calls/${id}`)).body).toMatchObject({
      call_type: 'phone_call',
      direction: 'inbound',
      from_number: '+15550101',
      to_number: '+15550100',
      sip_call_id: 'sip-1',
    });
  });

  it('of another organisation is as unknown as one that is not there, and one that can not be', async () => {
    const { body: made } = await create({ ai_agent_id: 'receptionist' });
    const other = await freshOrganization();
    const answers = await Promise.all(
      [made._id, 'call_00000000-0000-7000-8000-000000000000', 'x', '%00', "'"].map((id) => other.call('GET', `/v1/calls/${id}`)),
    );
    expect(answers.map(({ status, text }) => [status, text])).toEqual(
      answers.map(() => [404, '{"error":"not_found","message":"Call not found"}']),
    );
  });
});

describe('the list of calls', () => {
  it('is walked in both directions, with the number of all, and its tokens open no other list', async () => {
    const fresh = await freshOrganization();
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) ids.push((await create({ ai_agent_id: 'receptionist' }, fresh)).body._id);
    const walk = async (query: string) => {
      const seen: string[] = [];
      let token = '';
      do {
        const { body } = await fresh.call('GET', `/v1/calls?${query}${token}`);
        expect(body.total_count).toBe(5);
        seen.push(...body.calls.map(({ _id }: { _id: string }) => _id));
        token = body.next_page_token === null ? '' : `&page_token=${body.next_page_token}`;
      } while (token !== '');
      return seen;
    };
    expect(await walk('page_size=2&sort_direction=asc')).toEqual(ids);
    expect(await walk('page_size=2')).toEqual(ids.toReversed());
    expect(await walk('page_size=1000')).toEqual(ids.toReversed());
    const { body } = await fresh.call('GET', '/v1/calls?page_size=2');
    expect((await org.call('GET', `/v1/calls?page_token=${body.next_page_token}`)).status).toBe(422);
    expect((await fresh.call('GET', `/v1/calls?sort_direction=asc&page_token=${body.next_page_token}`)).status).toBe(422);
  });

  it('is of those that the filters let through', async () => {
    const fresh = await freshOrganization();
    for (const name of ['sales', 'support']) await serveAgent(facade.store, fresh.name, name);
    const make = async (body: object): Promise<string> => (await create(body, fresh)).body._id;
    const plain = await make({ ai_agent_id: 'receptionist' });
    const sales = await make({ ai_agent_id: 'sales' });
    const support = await make({ ai_agent_id: 'receptionist', override_ai_agent_id: 'support' });
    await facade.store.calls.calls.end({ ...untold, org: fresh.name, id: sales, reason: 'no_answer' });
    const find = async (query: string): Promise<readonly string[]> => {
      const { body } = await fresh.call('GET', `/v1/calls?sort_direction=asc&${query}`);
      expect(body.total_count).toBe(body.calls.length);
      return body.calls.map(({ _id }: { _id: string }) => _id);
    };
    expect(await find('ai_agent_ids=sales&ai_agent_ids=support')).toEqual([sales, support]);
    expect(await find('ai_agent_ids=sales,support')).toEqual([sales, support]);
    expect(await find('ai_agent_ids=receptionist')).toEqual([plain, support]);
    for (const none of ['absent', '%00', '', 'No%20name']) expect(await find(`ai_agent_ids=${none}`)).toEqual([]);
    expect(await find('ai_agent_ids=%00,sales')).toEqual([sales]);
    expect(await find('call_status=ended')).toEqual([sales]);
    const [past, future] = [new Date(Date.now() - 3_600_000).toISOString(), new Date(Date.now() + 3_600_000).toISOString()];
    expect(await find(`start_time_after=${past}&start_time_before=${future}`)).toEqual([plain, sales, support]);
    expect(await find(`start_time_before=${past}`)).toEqual([]);
    expect(await find(`end_time_after=${past}&end_time_before=${future}`)).toEqual([sales]);
    expect(await find(`end_time_before=${past}`)).toEqual([]);
  });

  it('names everything that is wrong with a question', async () => {
    const query = 'page_size=1001&call_status=busy&sort_direction=up&start_time_after=yesterday&end_time_before=1';
    for (const time of ['9999-12-31T23:59:59.9999999-05:00', '0001-01-01T00:00:00%2b05:00', '2026-02-30'])
      expect(brief(await org.call('GET', `/v1/calls?start_time_before=${time}`))).toEqual(['query.start_time_before value_error']);
    const { status, body } = await org.call('GET', `/v1/calls?${query}`);
    expect(status).toBe(422);
    expect(body.detail.map(({ loc }: { loc: string[] }) => loc.join('.')).toSorted()).toEqual(
      ['call_status', 'end_time_before', 'page_size', 'sort_direction', 'start_time_after'].map((name) => `query.${name}`),
    );
  });
});
