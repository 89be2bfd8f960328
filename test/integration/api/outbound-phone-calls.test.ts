/** Tests dial-outbound-phone-call, as far as REST, Postgres and the media server go. */
import { RoomServiceClient } from 'livekit-server-sdk';
import { describe, expect, it } from 'vitest';

import { dispatchMetadata, roomOf } from '../../../calls/names.ts';
import type { PhoneRoute } from '../../../store/index.ts';
import { mediaServer } from '../../support/media-server.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { serveAgent, someMediaServer } from './calls-support.ts';
import { organization, startFacade, type TestOrganization } from './facade.ts';

const path = '/v1/calls/dial-outbound-phone-call';
const server = suiteFixture(mediaServer);
const facade = suiteFixture(() => startFacade({ calls: { mediaServer: server } }));
const org = suiteFixture(freshOrganization);
let count = 0;

async function freshOrganization(liveCalls = 50): Promise<TestOrganization> {
  const made = await organization(facade);
  await facade.store.organizations.limitLiveCalls(made.name, liveCalls);
  await serveAgent(facade.store, made.name, 'sales');
  await serveAgent(facade.store, made.name, 'support', { required: ['customer_name'], displayName: 'Support' });
  return made;
}

async function number(of: TestOrganization, change: Partial<PhoneRoute> = {}): Promise<string> {
  const route: PhoneRoute = {
    org: of.name,
    uid: `uid-${(count += 1)}`,
    name: `number-${count}`,
    number: `+1555${String(2_000_000 + count)}${Math.floor(Math.random() * 1000)}`,
    type: 'SIP',
    inboundAgent: null,
    outboundAgent: 'sales',
    outboundTrunk: 'ST_some',
    ...change,
  };
  await facade.store.phoneRoutes.put(route);
  return route.number;
}

describe('dial-outbound-phone-call', () => {
  it('registers the call, and calls for an agent into its room', async () => {
    const from_number = await number(org);
    const { status, body } = await org.call('POST', path, { from_number, to_number: '+15550199', metadata: { order: 'A-17' } });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      call_type: 'phone_call',
      call_status: 'registered',
      direction: 'outbound',
      ai_agent_id: 'sales',
      from_number,
      to_number: '+15550199',
      metadata: { order: 'A-17' },
    });
    expect(Object.keys(body)).not.toEqual(expect.arrayContaining(['access_token']));
    expect((await org.call('GET', `/v1/calls/${body._id}`)).body).toEqual(body);
    const rooms = new RoomServiceClient(server.url.replace(/^ws/, 'http'), server.apiKey, server.apiSecret);
    const [room] = await rooms.listRooms([roomOf(body._id)]);
    expect(room?.name).toBe(roomOf(body._id));
    expect(dispatchMetadata(body._id)).not.toContain('A-17');
  });

  it('lets another agent talk, which has to get what it requires', async () => {
    const from_number = await number(org);
    const asked = { from_number, to_number: '+15550199', override_ai_agent_id: 'support' };
    const lacking = await org.call('POST', path, asked);
    expect(lacking.status).toBe(422);
    expect(lacking.body.detail).toEqual([
      { type: 'missing', loc: ['body', 'native_llm_dynamic_data', 'customer_name'], msg: 'Field required' },
    ]);
    const { status, body } = await org.call('POST', path, { ...asked, native_llm_dynamic_data: { customer_name: 'Ada' } });
    expect([status, body.ai_agent_id, body.override_ai_agent_id]).toEqual([201, 'sales', 'support']);
  });

  it('need not bring what the agent looks up itself', async () => {
    const from_number = await number(org);
    const dynamicData = [{ name: 'crm', url: 'https://crm.example.com/', response: [{ name: 'customer', path: '$.name' }] }];
    const requiredDynamicData = ['customer'];
    await serveAgent(facade.store, org.name, 'looks-up', { agent: { requiredDynamicData, dynamicData } });
    const asked = { from_number, to_number: '+15550199', override_ai_agent_id: 'looks-up' };
    expect((await org.call('POST', path, asked)).status).toBe(201);
  });

  it("is 404 for a number that is not there, or somebody else's, and for an agent that is not there", async () => {
    const theirs = await number(await freshOrganization());
    for (const from_number of ['+15559999999', theirs]) {
      const { status, body } = await org.call('POST', path, { from_number, to_number: '+15550199' });
      expect([status, body.error, body.message]).toEqual([404, 'not_found', 'Phone number not found']);
    }
    const from_number = await number(org);
    expect((await org.call('POST', path, { from_number, to_number: '+15550199', override_ai_agent_id: 'absent' })).status).toBe(404);
  });

  it('is 409 for a number without an outbound agent, or without a trunk', async () => {
    const silent = await number(org, { outboundAgent: null });
    const refused = await org.call('POST', path, { from_number: silent, to_number: '+15550199' });
    expect([refused.status, refused.body.error]).toEqual([409, 'conflict']);
    expect(refused.body.message).toContain('outbound_agent_id');
    const overridden = await org.call('POST', path, { from_number: silent, to_number: '+15550199', override_ai_agent_id: 'sales' });
    expect([overridden.status, overridden.body.ai_agent_id, overridden.body.override_ai_agent_id]).toEqual([201, 'sales', undefined]);

    const unconnected = await number(org, { outboundTrunk: null });
    const answer = await org.call('POST', path, { from_number: unconnected, to_number: '+15550199' });
    expect(answer.status).toBe(409);
    expect(answer.body.message).toContain('sip_termination_uri');
  });

  it('is 422 for what is no number', async () => {
    const { status, body } = await org.call('POST', path, { from_number: 'reception', to_number: '0555' });
    expect(status).toBe(422);
    expect((body.detail as { loc: string[] }[]).map(({ loc }) => loc.join('.'))).toEqual(['body.from_number', 'body.to_number']);
  });

  it('counts as a live call, and leaves nothing behind where there are too many', async () => {
    const small = await freshOrganization(1);
    const from_number = await number(small);
    const answers = [];
    for (let n = 0; n < 3; n += 1) answers.push(await small.call('POST', path, { from_number, to_number: '+15550199' }));
    expect(answers.map(({ status }) => status)).toEqual([201, 429, 429]);
    expect(answers[1]?.body.error).toBe('concurrent_call_limit_reached');
    expect((await small.call('GET', '/v1/calls')).body.total_count).toBe(1);
  });

  it('is 503 without a media server, and ends the call that could not be begun', async () => {
    const fresh = await freshOrganization();
    const from_number = await number(fresh);
    for (const media of [undefined, someMediaServer]) {
      const other = await startFacade({ database: facade.database, calls: { mediaServer: media } });
      try {
        const answer = await other.call('POST', path, { key: fresh.key, body: { from_number, to_number: '+15550199' } });
        expect([answer.status, answer.body.error]).toEqual([503, 'unavailable']);
      } finally {
        await other.close();
      }
    }
    const { body } = await fresh.call('GET', '/v1/calls');
    expect(body.calls).toMatchObject([{ call_status: 'error', call_finish_reason: 'native_platform_internal_error' }]);
  });
});
