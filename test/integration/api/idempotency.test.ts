import { beforeAll, describe, expect, it } from 'vitest';

import { CallDeletion } from '../../../calls/call-deletion.ts';
import { PersonErasure } from '../../../calls/person-erasure.ts';
import { systemClock } from '../../../platform/clock.ts';
import { createLogger } from '../../../platform/logging.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { session } from '../store/support.ts';
import { realMediaServer, serveAgent } from './calls-support.ts';
import { organization, startFacade } from './facade.ts';

const server = suiteFixture(realMediaServer);
const facade = suiteFixture(() => startFacade({ calls: { mediaServer: server } }));
const org = suiteFixture(() => organization(facade));

beforeAll(async () => {
  await facade.store.organizations.limitLiveCalls(org.name, 1_000);
  await serveAgent(facade.store, org.name, 'receptionist', { displayName: 'Receptionist' });
});

const desk = { agent_name: 'Desk', llm: { model_name: 'm' }, stt: { provider: 'deepgram' }, tts: { provider: 'cartesia' } };

let count = 0;
const newKey = () => `key-${(count += 1)}`;
const send = (key: string, path: string, body: object, options: { readonly key?: string } = {}) =>
  org.call('POST', path, body, { ...options, headers: { 'idempotency-key': key } });
const CALLS = '/v1/calls/create-web-call';
const callsWith = async (ticket: string) =>
  (await org.call('GET', '/v1/calls?page_size=100')).body.calls.filter((call: { metadata: object }) =>
    Object.values(call.metadata).includes(ticket),
  );
const query = async (sql: string, key: string) => (await session(facade.database.url)).query(sql, [key]);
const row = (change: string, key: string) => query(`UPDATE parley.idempotent_requests SET ${change} WHERE key = $1`, key);

describe('a request with an Idempotency-Key', () => {
  it('makes a call once, and is answered the same again, in whatever order its fields come', async () => {
    const key = newKey();
    const first = await send(key, CALLS, { ai_agent_id: 'receptionist', metadata: { ticket: key } });
    const again = await send(key, CALLS, { metadata: { ticket: key }, ai_agent_id: 'receptionist' });
    expect([first.status, first.headers.get('idempotency-replayed')]).toEqual([201, null]);
    expect([again.status, again.body, again.headers.get('idempotency-replayed')]).toEqual([201, first.body, 'true']);
    expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
    expect(await callsWith(key)).toHaveLength(1);
  });

  it('is refused with another body or at another address, and is another one of another API key', async () => {
    const key = newKey();
    const body = { ai_agent_id: 'receptionist', metadata: { ticket: key } };
    const first = await send(key, CALLS, body);
    for (const other of [await send(key, CALLS, { ...body, metadata: {} }), await send(key, '/v2/ai-agents', desk)])
      expect([other.status, other.body]).toMatchObject([422, { detail: [{ loc: ['header', 'Idempotency-Key'] }] }]);
    const stranger = await send(key, CALLS, body, { key: await org.keyWith('calls:write') });
    expect(stranger.status).toBe(201);
    expect(stranger.body._id).not.toBe(first.body._id);
  });

  it('waits for the one that is being carried out, and takes the place of one whose process has died, without a second call', async () => {
    const key = newKey();
    const body = { ai_agent_id: 'receptionist', metadata: { ticket: key } };
    const first = await send(key, CALLS, body);
    await row("answer = NULL, claimed_until = now() + interval '1 minute'", key);
    const early = await send(key, CALLS, body);
    expect([early.status, early.body.error, early.headers.get('retry-after')]).toEqual([409, 'conflict', '1']);
    await row('claimed_until = now()', key);
    const after = await send(key, CALLS, body);
    expect([after.status, after.body._id]).toEqual([201, first.body._id]);
    expect(await callsWith(key)).toHaveLength(1);
    expect((await send(key, CALLS, body)).headers.get('idempotency-replayed')).toBe('true');
  });

  it('makes one agent under one name, also where the first attempt left no answer', async () => {
    const key = newKey();
    const body = { ...desk, agent_name: `Idem ${key}` };
    const first = await send(key, '/v2/ai-agents', body);
    await row('answer = NULL, claimed_until = now()', key);
    const again = await send(key, '/v2/ai-agents', body);
    expect([again.status, again.body.ai_agent_id]).toEqual([201, first.body.ai_agent_id]);
    const replayed = await send(key, '/v2/ai-agents', body);
    expect([replayed.body, replayed.headers.get('etag')]).toEqual([again.body, again.headers.get('etag')]);
  });

  it('may be sent again with the same key when it was refused, and after 24 hours anew', async () => {
    const key = newKey();
    const body = { ai_agent_id: 'nobody', metadata: { ticket: key } };
    expect((await send(key, CALLS, body)).status).toBe(404);
    const first = await send(key, CALLS, { ...body, ai_agent_id: 'receptionist' });
    expect(first.status).toBe(201);
    await row("made_at = now() - interval '25 hours'", key);
    const later = await send(key, CALLS, body);
    expect(later.status).toBe(404);
    expect(await callsWith(key)).toHaveLength(1);
  });

  it('leaves nothing readable of the answer', async () => {
    const key = newKey();
    const { body } = await send(key, '/v1/api-keys', { name: key, permissions: ['agents:read'] });
    const { rows } = await query('SELECT answer FROM parley.idempotent_requests WHERE key = $1', key);
    expect(rows[0].answer.toString('latin1')).not.toContain(body.api_key ?? body.key);
    expect((await send(key, '/v1/api-keys', { name: key, permissions: ['agents:read'] })).body).toEqual(body);
  });

  it('is found by the call that its answer is about, and makes nothing twice once that call is erased', async () => {
    const key = newKey();
    const body = { ai_agent_id: 'receptionist', metadata: { ticket: key } };
    const { body: call } = await send(key, CALLS, body);
    await org.call('POST', `/v1/calls/${call._id}/end`);
    const erased = await org.call('DELETE', `/v1/people?metadata_key=ticket&metadata_value=${key}`);
    const erasure = new PersonErasure({
      erasures: facade.store.calls.erasures,
      deletion: new CallDeletion({ store: facade.store.calls, files: { delete: async () => undefined } }),
      clock: systemClock,
      logger: createLogger({ role: 'worker', level: 'silent' }),
    });
    await erasure.eraseDue();
    const report = await org.call('GET', `/v1/people/erasures/${erased.body.erasure_id}`);
    expect(report.body).toMatchObject({ status: 'finished', counts: { calls: 1, idempotent_answers: 1 } });
    expect((await send(key, CALLS, body)).status).toBe(409);
    expect(await callsWith(key)).toEqual([]);
  });

  it('is not remembered of a dry run, and refused of an upload and where it is no key', async () => {
    const key = newKey();
    for (const spelling of ['true', '1', 'Yes']) expect((await send(key, `/v2/ai-agents?dry_run=${spelling}`, desk)).status).toBe(201);
    expect((await query('SELECT FROM parley.idempotent_requests WHERE key = $1', key)).rowCount).toBe(0);
    for (const bad of ['with space', 'x'.repeat(201)])
      expect((await send(bad, CALLS, { ai_agent_id: 'receptionist' })).body).toMatchObject({
        detail: [{ loc: ['header', 'Idempotency-Key'] }],
      });
    const lines = await fetch(new URL('/api/v1/knowledge-bases/manual/documents/bulk', facade.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${org.key}`, 'content-type': 'application/x-ndjson', 'idempotency-key': key },
      body: '{"name":"a.md","content":"a"}\n',
    });
    expect([lines.status, await lines.json()]).toMatchObject([400, { message: expect.stringContaining('idempotency_key') }]);
  });
});

it('every request that makes something takes the key', async () => {
  const { paths } = (await facade.call('GET', '/openapi.json')).body as {
    paths: Record<
      string,
      Record<string, { operationId: string; responses: object; parameters?: { name: string }[]; requestBody?: { content: object } }>
    >;
  };
  const making = Object.values(paths).flatMap(({ post }) =>
    post !== undefined && ('201' in post.responses || '202' in post.responses) ? [post] : [],
  );
  const without = making.filter(({ parameters = [] }) => !parameters.some(({ name }) => name === 'Idempotency-Key'));
  expect(without.map(({ operationId }) => operationId).toSorted()).toEqual(['submitDocuments', 'submitFile']);
});

it('a client that loses every third answer has as many calls as it has asked for', async () => {
  const tickets = Array.from({ length: 30 }, () => newKey());
  let answers = 0;
  for (const ticket of tickets) {
    for (let lost = true; lost;) {
      const { status } = await send(ticket, CALLS, { ai_agent_id: 'receptionist', metadata: { ticket } });
      expect(status).toBe(201);
      lost = (answers += 1) % 3 === 0;
    }
  }
  const ids = await Promise.all(tickets.map(async (ticket) => (await callsWith(ticket)).length));
  expect(answers).toBeGreaterThan(tickets.length);
  expect(ids).toEqual(tickets.map(() => 1));
});
