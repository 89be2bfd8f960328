/** Goes from the request over the event to the receiver: the facade and a dispatcher run on the same servers. */
import { randomBytes } from 'node:crypto';

import { beforeEach, describe, expect, it } from 'vitest';

import { buildEvent } from '../../../events/emit.ts';
import { sign } from '../../../webhooks/signing/sign.ts';
import { parseSigningKey } from '../../../webhooks/signing/signing-keys.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { startWebhookSink, type ReceivedWebhook } from '../../support/webhook-sink.ts';
import { organization, startDispatcher, startFacade, type RestAnswer } from './facade.ts';

const one = '/v1/public/webhook/subscription';
const rounds = 50;
const facade = suiteFixture(startFacade);
const ours = suiteFixture(() => organization(facade));
const sink = suiteFixture(startWebhookSink);
suiteFixture(() => startDispatcher(facade));

let count = 0;
let path: string;
beforeEach(() => {
  path = `/hook-${++count}`;
});

const make = async (rest: object = {}, name = `Hook ${count}`): Promise<RestAnswer['body']> => {
  const body = {
    name,
    url: sink.url(path),
    enable_signed_webhooks: true,
    // A delivery that isn't tried again must not fail because the machine is busy.
    request_timeout_ms: 30_000,
    retry_policy: { maxRetryAttempts: 0 },
    ...rest,
  };
  const answer = await ours.call('POST', one, body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
};

/** Emits an event, which is committed when this resolves. @returns its id as the receiver sees it */
async function fire(workspace?: string): Promise<string> {
  const payload = { call_id: randomBytes(8).toString('hex'), agent_id: 'agent-1', duration_seconds: 1 };
  const event = buildEvent({ name: 'CallHandler.RecordingReady', org: ours.name, payload, workspace, now: Date.now() });
  await facade.store.webhooks.insert(ours.name, [event]);
  return `evt_${event.id}`;
}

const came = async (id: string, at = path): Promise<ReceivedWebhook> => {
  await eventually(async () => expect(sink.ids(at).has(id), `${id} at ${at}`).toBe(true));
  return sink.received(at).find((each) => each.id === id) as ReceivedWebhook;
};

/** Returns the header that keys of these secrets make, newest first. */
function signatureOf({ id, headers, body }: ReceivedWebhook, secrets: readonly string[]): string {
  const keys = secrets.flatMap((secret) => parseSigningKey(secret) ?? []);
  expect(keys).toHaveLength(secrets.length);
  return sign(keys, { id, timestamp: Number(headers['webhook-timestamp']), body });
}

describe('an event right after the answer', () => {
  it(`to a POST reaches the subscription, signed with the secret of the answer, ${rounds} times of ${rounds}`, async () => {
    const made: { id: string; secret: string; event: string; at: string }[] = [];
    for (let round = 0; round < rounds; round += 1) {
      path = `/fire-${round}`;
      const workspace = `w${round}`;
      const { id, secret } = await make({ headers: { 'X-Round': `${round}` }, workspace_ids: [workspace] }, `Fire ${round}`);
      made.push({ id, secret, event: await fire(workspace), at: path });
    }
    for (const [round, { secret, event, at }] of made.entries()) {
      const received = await came(event, at);
      expect(received.headers['webhook-signature']).toBe(signatureOf(received, [secret]));
      expect(received.headers['x-round']).toBe(`${round}`);
      expect(sink.ids(at).size).toBe(1);
    }
    for (const { id } of made) await ours.call('DELETE', `${one}/${id}`);
  });

  it('to a change goes by what was changed: address, headers, scope, a pause, and the end of it', async () => {
    const { id } = await make({ headers: { 'X-State': 'first' } });
    const change = async (body: object): Promise<void> => {
      const answer = await ours.call('PATCH', `${one}/${id}`, body);
      expect(answer.status, answer.text).toBe(200);
    };
    for (let round = 0; round < 10; round += 1) {
      const at = `${path}-${round}`;
      await change({ url: sink.url(at), headers: { 'X-State': `${round}` } });
      expect((await came(await fire(), at)).headers['x-state']).toBe(`${round}`);
    }
    // An event goes by what holds when it is relayed: this one shows when it was.
    const witness = `${path}-witness`;
    const { id: other } = await make({ url: sink.url(witness) }, `Witness ${count}`);
    const relayed = async (): Promise<string> => {
      const event = await fire();
      await came(event, witness);
      return event;
    };
    const missed: string[] = [];
    await change({ url: sink.url(path), workspace_ids: ['elsewhere'] });
    missed.push(await relayed());
    await change({ active: false, workspace_ids: [] });
    missed.push(await relayed());
    await change({ active: true });
    await came(await fire());
    expect((await ours.call('DELETE', `${one}/${id}`)).status).toBe(200);
    missed.push(await relayed());
    for (const event of missed) expect(sink.ids(path).has(event)).toBe(false);
    await ours.call('DELETE', `${one}/${other}`);
  });

  it('to a rotation is signed with the new secret first, and with the former one for as long as it was granted', async () => {
    const { id, secret: first } = await make();
    const rotate = async (body: object): Promise<string> =>
      (await ours.call('POST', `${one}/${id}/rotate-secret`, body)).body.secret as string;
    const signature = async (): Promise<[ReceivedWebhook, string]> => {
      const received = await came(await fire());
      return [received, received.headers['webhook-signature'] as string];
    };
    for (let round = 0, former = first; round < 5; round += 1) {
      const second = await rotate({});
      let [received, header] = await signature();
      expect(header).toBe(signatureOf(received, [second, former]));
      former = await rotate({ grace_period_hours: 0 });
      [received, header] = await signature();
      expect(header).toBe(signatureOf(received, [former]));
    }
    await ours.call('PATCH', `${one}/${id}`, { enable_signed_webhooks: false });
    expect((await signature())[1]).toBeUndefined();
    const { secret } = (await ours.call('PATCH', `${one}/${id}`, { enable_signed_webhooks: true })).body as { secret: string };
    const [received, header] = await signature();
    expect(header).toBe(signatureOf(received, [secret]));
    await ours.call('DELETE', `${one}/${id}`);
  });
});

describe('deliveries over REST', () => {
  it('are sent again, alone and together, with the same id and body', async () => {
    const { id } = await make();
    const since = new Date(Date.now() - 1000).toISOString();
    sink.behave(path, 500);
    const events = [await fire(), await fire(), await fire()];
    const list = async (status: string) =>
      (await ours.call('GET', `${one}/${id}/deliveries?status=${status}`)).body.data as {
        id: string;
        event_id: string;
        attempts: number;
      }[];
    await eventually(async () => expect((await list('failed')).map((each) => each.event_id).toSorted()).toEqual(events.toSorted()));
    sink.behave(path, 200);
    const [newest] = await list('failed');
    expect((await ours.call('POST', `${one}/deliveries/${newest?.id}/redeliver`)).status).toBe(202);
    await eventually(async () => expect((await list('succeeded')).map((each) => each.attempts)).toEqual([2]));
    expect((await ours.call('POST', `${one}/${id}/recover`, { since })).body).toEqual({ recovered: 2 });
    await eventually(async () => expect((await list('succeeded')).map((each) => each.event_id).toSorted()).toEqual(events.toSorted()));
    for (const event of events) {
      const [before, again] = sink.received(path).filter((each) => each.id === event);
      expect(again?.body).toEqual(before?.body);
    }
    const { body } = await ours.call('GET', `${one}/deliveries/${newest?.id}/attempts`);
    expect(body.data.map(({ number, succeeded, status_code: code }: Record<string, unknown>) => [number, succeeded, code])).toEqual([
      [1, false, 500],
      [2, true, 200],
    ]);
    const test = await ours.call('POST', `${one}/${id}/test`);
    expect(JSON.parse((await came(test.body.event_id as string)).body.toString())).toMatchObject({
      organizationId: ours.name,
      traceId: test.body.event_id,
      eventName: 'Webhook.Test',
      payload: { subscription_id: id },
    });
    await eventually(async () =>
      expect((await ours.call('GET', `${one}/${id}/deliveries/${test.body.delivery_id}`)).body.status).toBe('succeeded'),
    );
  });
});
