/** Tests commands for live calls, with a job that takes them from the table; what they do in a call is in test/integration/voice. */
import { randomUUID } from 'node:crypto';

import { TokenVerifier } from 'livekit-server-sdk';
import { describe, expect, it, onTestFinished } from 'vitest';

import { CallLifecycle } from '../../../calls/lifecycle.ts';
import { systemClock } from '../../../platform/clock.ts';
import type { Permission } from '../../../store/index.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { query } from '../../support/sql.ts';
import { registerCall } from '../store/calls-support.ts';
import { realMediaServer, someMediaServer, serveCommands } from './calls-support.ts';
import { organization, startFacade } from './facade.ts';

const server = suiteFixture(realMediaServer);
const facade = suiteFixture(() => startFacade({ calls: { mediaServer: server } }));
const org = suiteFixture(() => organization(facade));

const lifecycle = (): CallLifecycle => new CallLifecycle({ calls: facade.store.calls.calls, clock: systemClock });

/** Registers a call and starts it, without anybody in it. */
async function liveCall(): Promise<{ readonly org: string; readonly id: string }> {
  await facade.store.organizations.limitLiveCalls(org.name, 1_000);
  const ref = await registerCall(facade.store, org.name);
  await lifecycle().start({ ...ref, jobId: 'job' });
  return ref;
}

/** Takes commands of a call until the test is over. @returns what was taken */
function serve(ref: { readonly org: string; readonly id: string }, reason?: string): readonly unknown[] {
  const { taken, stop } = serveCommands(facade.store, ref, reason);
  onTestFinished(stop);
  return taken;
}

const requests = [
  ['say', { text: 'One moment.', interrupt: true }],
  ['instructions', { text: 'Offer a discount.' }],
  ['mute', { muted: true }],
] as const;

describe('a command for a call that goes on', () => {
  it('is carried out by the job, and written down with who sent it', async () => {
    const ref = await liveCall();
    const taken = serve(ref);
    for (const [kind, body] of requests) {
      const answer = await org.call('POST', `/v1/calls/${ref.id}/${kind}`, body);
      expect([answer.status, answer.body]).toMatchObject([200, { kind, body, status: 'done', created_by_user_id: 'user-1' }]);
    }
    expect(taken).toEqual(requests);
    const { body } = await org.call('GET', `/v1/calls/${ref.id}/commands`);
    expect(body.data).toMatchObject(requests.map(([kind, sent]) => ({ kind, body: sent, status: 'done' })));
    expect(body.data[0].created_by_key).toMatch(/^key_/);
  });

  it('answers 409 with the reason where the job refuses it', async () => {
    const ref = await liveCall();
    serve(ref, 'the agent is muted');
    const refused = await org.call('POST', `/v1/calls/${ref.id}/say`, { text: 'Hello.' });
    expect([refused.status, refused.body]).toEqual([409, { error: 'conflict', message: 'the agent is muted' }]);
    const { data } = (await org.call('GET', `/v1/calls/${ref.id}/commands`)).body;
    expect(data).toMatchObject([{ status: 'refused', reason: 'the agent is muted' }]);
  });

  it('is called off for good where no agent is there to take it, or no media server answers', async () => {
    const ref = await liveCall();
    const answer = await org.call('POST', `/v1/calls/${ref.id}/say`, { text: 'Hello.' });
    expect([answer.status, answer.body.message]).toEqual([409, 'no agent is in the call, and it is not carried out']);
    const away = await startFacade({ database: facade.database, calls: { mediaServer: someMediaServer } });
    onTestFinished(() => away.close());
    const unreachable = await away.call('POST', `/v1/calls/${ref.id}/mute`, { key: org.key, body: { muted: true } });
    expect([unreachable.status, unreachable.body.error]).toEqual([503, 'unavailable']);
    expect(await facade.store.calls.commands.take(ref)).toBeUndefined();
    const { data } = (await org.call('GET', `/v1/calls/${ref.id}/commands`)).body;
    expect(data).toMatchObject([{ status: 'expired' }, { status: 'expired' }]);
  });

  it('is the same one when its request is sent again, also after the answer was lost', async () => {
    const ref = await liveCall();
    const taken = serve(ref);
    const headers = { 'idempotency-key': randomUUID() };
    const say = () => org.call('POST', `/v1/calls/${ref.id}/say`, { text: 'Once.' }, { headers });
    const first = await say();
    expect((await say()).body).toEqual(first.body);
    const forgotten = 'UPDATE parley.idempotent_requests SET answer = NULL, claimed_until = now() WHERE key = $1';
    await query(facade.database.url, forgotten, [headers['idempotency-key']]);
    expect((await say()).body).toEqual(first.body);
    expect(taken).toHaveLength(1);
  });

  it('is 202 while it takes longer, and shows what came of it afterwards', async () => {
    await facade.store.organizations.limitLiveCalls(org.name, 1_000);
    const ref = await registerCall(facade.store, org.name, { callType: 'phone_call', direction: 'inbound', toNumber: '+15550100' });
    await lifecycle().start({ ...ref, jobId: 'job' });
    const sent = org.call('POST', `/v1/calls/${ref.id}/transfer`, { to: '+15550199', mode: 'warm' });
    const command = await eventually(async () => {
      const found = await facade.store.calls.commands.take(ref);
      expect(found).toBeDefined();
      return found!;
    });
    const answer = await sent;
    expect([answer.status, answer.body]).toMatchObject([202, { status: 'running', body: { to: '+15550199', mode: 'warm' } }]);
    await facade.store.calls.commands.finish(command, '+15550199 is busy.');
    const { data } = (await org.call('GET', `/v1/calls/${ref.id}/commands`)).body;
    expect(data).toMatchObject([{ status: 'refused', reason: '+15550199 is busy.' }]);
  });

  it('is refused before the call has begun, after its end, and for a transfer of a web call', async () => {
    const ref = await registerCall(facade.store, org.name);
    const say = () => org.call('POST', `/v1/calls/${ref.id}/say`, { text: 'Hello.' });
    expect((await say()).body).toMatchObject({ error: 'conflict', message: expect.stringContaining('has not begun') });
    await lifecycle().start({ ...ref, jobId: 'job' });
    const transferred = await org.call('POST', `/v1/calls/${ref.id}/transfer`, { to: '+15550199' });
    expect([transferred.status, transferred.body.message]).toMatchObject([409, expect.stringContaining('web call')]);
    await lifecycle().end({ ...ref, reason: 'user_ended_call' });
    expect([(await say()).status, (await say()).body.message]).toEqual([409, 'the call is over']);
    expect((await org.call('GET', `/v1/calls/${ref.id}/commands`)).body).toEqual({ data: [] });
  });

  it('needs calls:control, which calls:write does not imply, and concerns calls of the organisation only', async () => {
    const ref = await liveCall();
    const [writer, reader] = [await org.keyWith('calls:write'), await org.keyWith('calls:read')];
    const other = await organization(facade);
    for (const [kind, body] of [...requests, ['transfer', { to: '+15550199' }] as const]) {
      const path = `/v1/calls/${ref.id}/${kind}`;
      expect([kind, (await facade.call('POST', path, { key: writer, body })).status]).toEqual([kind, 403]);
      expect([kind, (await other.call('POST', path, body)).status]).toEqual([kind, 404]);
    }
    expect((await other.call('GET', `/v1/calls/${ref.id}/commands`)).status).toBe(404);
    expect((await facade.call('GET', `/v1/calls/${ref.id}/commands`, { key: reader })).body).toEqual({ data: [] });
  });

  it.each([
    ['say', {}, 'text'],
    ['say', { text: ' ' }, 'text'],
    ['say', { text: 'a\u0000' }, 'text'],
    ['say', { text: 'a'.repeat(2_001) }, 'text'],
    ['instructions', { text: '' }, 'text'],
    ['mute', {}, 'muted'],
    ['transfer', { to: '5550199' }, 'to'],
    ['transfer', { to: '+15550199', mode: 'hot' }, 'mode'],
  ])('is refused where %s gets %j', async (kind, body, field) => {
    const { id } = await registerCall(facade.store, org.name);
    const answer = await org.call('POST', `/v1/calls/${id}/${kind}`, body);
    expect([answer.status, answer.body.detail]).toMatchObject([422, [{ loc: ['body', field] }]]);
  });
});

describe('somebody beside the user', () => {
  const grantsOf = async (token: string) => (await new TokenVerifier(server.apiKey, server.apiSecret).verify(token)).video;

  it('gets a token for a minute that hears, or one that speaks, and nothing more', async () => {
    const ref = await liveCall();
    const listening = await org.call('POST', `/v1/calls/${ref.id}/listen`);
    const speaking = await org.call('POST', `/v1/calls/${ref.id}/take-over`);
    expect([listening.status, speaking.status]).toEqual([200, 200]);
    const room = (await facade.store.calls.calls.get(ref))?.room;
    const common = { room, roomJoin: true, roomCreate: false, roomAdmin: false, canSubscribe: true, canPublishData: false };
    expect(await grantsOf(listening.body.access_token)).toMatchObject({ ...common, canPublish: false, hidden: true });
    expect(await grantsOf(speaking.body.access_token)).toMatchObject({
      ...common,
      canPublish: true,
      canPublishSources: ['microphone'],
      hidden: false,
    });
    const { exp, nbf, sub } = JSON.parse(Buffer.from(speaking.body.access_token.split('.')[1], 'base64url').toString());
    expect([exp - nbf, sub]).toEqual([60, `supervisor-${speaking.body.command_id}`]);
    expect(listening.body).toMatchObject({ identity: `listener-${listening.body.command_id}`, media_url: server.publicUrl });
    const { data } = (await org.call('GET', `/v1/calls/${ref.id}/commands`)).body;
    expect(data).toMatchObject([
      { kind: 'listen', status: 'done', created_by_user_id: 'user-1' },
      { kind: 'take_over', status: 'done' },
    ]);
  });

  it('needs calls:listen to hear, calls:control to speak, and a call of the organisation that goes on', async () => {
    const ref = await liveCall();
    const other = await organization(facade);
    const routes = { listen: 'calls:control', 'take-over': 'calls:listen' } as const;
    for (const [route, permission] of Object.entries(routes) as (readonly ['listen' | 'take-over', Permission])[]) {
      const path = `/v1/calls/${ref.id}/${route}`;
      const key = await org.keyWith(permission, 'calls:write');
      expect([route, (await facade.call('POST', path, { key })).status]).toEqual([route, 403]);
      expect([route, (await other.call('POST', path)).status]).toEqual([route, 404]);
    }
    await lifecycle().end({ ...ref, reason: 'user_ended_call' });
    expect((await org.call('POST', `/v1/calls/${ref.id}/listen`)).body).toMatchObject({ error: 'conflict', message: 'the call is over' });
  });
});

describe('the table of commands', () => {
  it('takes 1,000 of a call at most, and goes with the call', async () => {
    const ref = await liveCall();
    const filling = `INSERT INTO parley.call_commands (org, call_id, id, kind, body, created_by_key, status, finished_at)
      SELECT $1, $2, 'cmd_01234567-89ab-7cde-8f01-' || lpad(n::text, 12, '0'), 'mute', '{}', 'key', 'done', now() FROM generate_series(1, 1000) AS n`;
    await query(facade.database.url, filling, [ref.org, ref.id]);
    const refused = await org.call('POST', `/v1/calls/${ref.id}/mute`, { muted: true });
    expect([refused.status, refused.body.message]).toMatchObject([409, expect.stringContaining('1,000')]);
    await lifecycle().end({ ...ref, reason: 'user_ended_call' });
    expect((await org.call('DELETE', `/v1/calls/${ref.id}`)).status).toBe(204);
    expect(await query(facade.database.url, 'SELECT FROM parley.call_commands WHERE call_id = $1', [ref.id])).toEqual([]);
  });
});
