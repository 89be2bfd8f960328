import { randomUUID } from 'node:crypto';

import { beforeEach, describe, expect, it } from 'vitest';

import { deliveryIdOf, newCallId, openDispatchStore, type AttemptResult } from '../../../store/index.ts';
import { buildEvent } from '../../../events/emit.ts';
import { aWebhookSubscription, anAgent } from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { kubectl, kubectlJson, organization, startFacade, type RestAnswer } from './facade.ts';

const one = '/v1/public/webhook/subscription';
const facade = suiteFixture(startFacade);
const ours = suiteFixture(() => organization(facade));
const dispatcher = suiteFixture(() => openDispatchStore({ databaseUrl: facade.database.url }));
/** Stands in for the dispatcher, of which only the writes are needed here. */

let count = 0;
let id: string;
let uid: string;
let path: string;
beforeEach(async () => {
  const body = { name: `Hook ${++count}`, url: 'https://hooks.example.com', enable_signed_webhooks: false };
  id = (await ours.call('POST', one, body)).body.id as string;
  path = `${one}/${id}`;
  uid = (await kubectlJson<{ metadata: { uid: string } }>(['get', 'webhooksubscription', id, '-n', ours.name])).metadata.uid;
});

const payload = { call_id: 'call-1', agent_id: 'agent-1', duration_seconds: 3 };

/** Relays events, oldest first, to the subscription. @returns ids of the deliveries */
async function deliver(times: readonly number[], state: 'pending' | 'skipped' = 'pending', call_id = payload.call_id): Promise<string[]> {
  const events = times.map((now) =>
    buildEvent({ name: 'CallHandler.RecordingReady', org: ours.name, payload: { ...payload, call_id }, now }),
  );
  await facade.store.webhooks.insert(ours.name, events);
  for (let taken = 1; taken > 0;) {
    ({ taken } = await dispatcher.takeOutbox(100, (batch) => ({
      deliveries: batch.map((event) => ({
        event,
        subscriptionUid: uid,
        state,
        ...(state === 'skipped' ? { reason: 'paused' } : { leaseMs: 60_000 }),
      })),
    })));
  }
  return events.map((event) => deliveryIdOf(event.id, uid));
}

const attempt = (deliveryId: string, result: Partial<AttemptResult>): Promise<unknown> =>
  dispatcher.record([
    {
      deliveryId,
      org: ours.name,
      subscriptionUid: uid,
      seriesStart: 0,
      startedAt: Date.now(),
      durationMs: 12,
      succeeded: true,
      reason: 'ok',
      statusCode: 204,
      next: { state: 'succeeded' },
      ...result,
    },
  ]);
const failed: Partial<AttemptResult> = {
  succeeded: false,
  reason: 'http_status',
  statusCode: 503,
  message: 'the endpoint answered 503',
  next: { state: 'failed' },
};

const failure = (status: number, type: string, at: string, details: object = {}) => ({
  status,
  type,
  message: expect.any(String),
  details,
  timestamp: expect.any(String),
  path: at,
  trace_id: expect.any(String),
});

describe('deliveries', () => {
  it('are listed by their call', async () => {
    const [call, other] = [newCallId(), newCallId()];
    const at = Date.now();
    const [first = '', second = ''] = await deliver([at, at + 7_200_000], 'pending', call);
    await deliver([at + 1], 'pending', other);
    await deliver([at + 2]);
    const of = async (query: string) => (await ours.call('GET', `${path}/deliveries?${query}`)).body;
    const idsOf = (body: { readonly data: readonly { readonly id: string }[] }) => body.data.map((delivery) => delivery.id);
    expect(idsOf(await of(`call_id=${call}`))).toEqual([`dlv_${second}`, `dlv_${first}`]);
    const page = await of(`call_id=${call}&page_size=1`);
    expect(idsOf(page)).toEqual([`dlv_${second}`]);
    expect(idsOf(await of(`call_id=${call}&page_size=1&page_token=${page.next_page_token}`))).toEqual([`dlv_${first}`]);
    // The token of one list opens no other.
    expect((await ours.call('GET', `${path}/deliveries?call_id=${other}&page_token=${page.next_page_token}`)).status).toBe(400);
    for (const unknown of [newCallId(), 'call-1', '%22%25_']) expect(idsOf(await of(`call_id=${unknown}`))).toEqual([]);
    expect(idsOf(await of('page_size=100'))).toHaveLength(4);
  });

  it("to an agent's own address are listed under the agent", async () => {
    await kubectl(['apply', '-f', '-'], anAgent('listener', ours.name, { webhookURL: 'https://agent.example.com' }));
    uid = (await kubectlJson<{ metadata: { uid: string } }>(['get', 'agent', 'listener', '-n', ours.name])).metadata.uid;
    const [call, at] = [newCallId(), Date.now()];
    const [first = '', second = ''] = await deliver([at, at + 1], 'pending', call);
    await deliver([at + 2]);
    await attempt(first, failed);
    const own = '/v1/public/webhook/agent/listener/deliveries';
    await eventually(async () => expect((await ours.call('GET', own)).body.data).toHaveLength(3));
    const page = (await ours.call('GET', `${own}?call_id=${call}&page_size=1`)).body;
    expect(page.data).toMatchObject([{ id: `dlv_${second}`, ai_agent_id: 'listener', status: 'pending' }]);
    expect(page.data[0]).not.toHaveProperty('subscription_id');
    const rest = (await ours.call('GET', `${own}?call_id=${call}&page_token=${page.next_page_token}`)).body;
    expect(rest.data).toMatchObject([{ id: `dlv_${first}`, status: 'failed', reason: 'http_status' }]);
    expect((await ours.call('GET', `${own}?status=failed`)).body.data).toEqual(rest.data);
    expect((await ours.call('GET', `${path}/deliveries?page_token=${page.next_page_token}`)).status).toBe(400);
    expect((await ours.call('GET', `${one}/deliveries/${rest.data[0].id}/attempts`)).body.data).toMatchObject([{ status_code: 503 }]);
    expect((await ours.call('GET', `${path}/deliveries`)).body.data).toEqual([]);
    const theirs = await organization(facade);
    expect((await theirs.call('GET', own)).status).toBe(404);
  });

  it('are shown with what became of them, and their attempts', async () => {
    const at = Date.now();
    const [taken = '', waiting = '', given = ''] = await deliver([at, at + 1, at + 2]);
    await attempt(taken, {});
    await attempt(waiting, { ...failed, next: { state: 'retry_pending', delayMs: 60_000 } });
    await attempt(given, failed);
    const { body } = await ours.call('GET', `${path}/deliveries`);
    const common = { subscription_id: id, event_name: 'CallHandler.RecordingReady', attempts: 1, created_at: expect.any(String) };
    expect(body).toEqual({
      data: [
        { ...common, id: `dlv_${given}`, status: 'failed', ended_at: expect.any(String), next_attempt_at: null },
        { ...common, id: `dlv_${waiting}`, status: 'retrying', ended_at: null, next_attempt_at: expect.any(String) },
        { ...common, id: `dlv_${taken}`, status: 'succeeded', ended_at: expect.any(String), next_attempt_at: null },
      ].map((each) => expect.objectContaining(each) as unknown),
      next_page_token: null,
    });
    for (const each of body.data) {
      expect((await ours.call('GET', `${path}/deliveries/${each.id}`)).body).toEqual(each);
      expect(each.event_id).toMatch(/^evt_[0-9a-f-]{36}$/);
    }
    const expected = {
      number: 1,
      started_at: expect.any(String),
      duration_ms: 12,
      succeeded: false,
      reason: 'http_status',
      status_code: 503,
      message: 'the endpoint answered 503',
    };
    for (const address of [`${path}/deliveries/dlv_${given}/attempts`, `${one}/deliveries/dlv_${given}/attempts`])
      expect((await ours.call('GET', address)).body).toEqual({ data: [expected] });
  });

  it('come in pages, newest first, by status; a page token opens its own list only', async () => {
    const at = Date.now();
    const ids = await deliver(Array.from({ length: 7 }, (_, n) => at + n));
    const odd = ids.filter((_, index) => index % 2 === 1);
    for (const delivery of odd) await attempt(delivery, failed);
    const walk = async (query: string): Promise<string[]> => {
      const seen: string[] = [];
      let token: string | null = '';
      while (token !== null) {
        const answer: RestAnswer = await ours.call(
          'GET',
          `${path}/deliveries?page_size=2&${query}${token === '' ? '' : `&page_token=${token}`}`,
        );
        expect(answer.status, answer.text).toBe(200);
        seen.push(...answer.body.data.map((each: { id: string }) => each.id.slice(4)));
        token = answer.body.next_page_token as string | null;
        // A delivery that comes meanwhile is newer than those that are still to be shown.
        await deliver([Date.now() + 1000]);
      }
      return seen;
    };
    expect(await walk('')).toEqual(ids.toReversed());
    expect(await walk('status=failed')).toEqual(odd.toReversed());
    expect(await walk('status=paused')).toEqual([]);
    const { body } = await ours.call('GET', `${path}/deliveries?page_size=1`);
    const other = `${path}/deliveries?page_size=1&status=failed&page_token=${body.next_page_token}`;
    expect((await ours.call('GET', other)).body).toEqual(
      failure(400, 'VALIDATION_ERROR', `${path}/deliveries`, { page_token: expect.any(String) }),
    );
    expect((await ours.call('GET', `${path}/deliveries?page_size=0&status=lost`)).body.details).toEqual({
      page_size: expect.any(String),
      status: expect.stringContaining('succeeded'),
    });
  });

  it('are sent again with the same event, one by one', async () => {
    const [done = '', given = ''] = await deliver([Date.now(), Date.now() + 1]);
    await attempt(done, {});
    await attempt(given, failed);
    for (const [delivery, address] of [
      [done, `${path}/deliveries/dlv_${done}/redeliver`],
      [given, `${one}/deliveries/dlv_${given}/redeliver`],
    ] as const) {
      const again = await ours.call('POST', address);
      expect([again.status, again.body]).toEqual([202, expect.objectContaining({ id: `dlv_${delivery}`, status: 'pending', attempts: 1 })]);
    }
    const claimed = await dispatcher.claim(new Map([[uid, 8]]), () => 60_000, 8);
    expect(claimed.map((each) => each.id).toSorted()).toEqual([done, given].toSorted());
  });

  it('that failed or were skipped in a time are sent again together', async () => {
    const base = Date.now() - 60_000;
    const times = [base, base + 10_000, base + 20_000, base + 30_000];
    const ids = await deliver(times);
    for (const delivery of ids) await attempt(delivery, failed);
    await deliver([base + 15_000], 'skipped');
    const iso = (ms: number): string => new Date(ms).toISOString();
    const recover = async (body: object) => (await ours.call('POST', `${path}/recover`, body)).body;
    expect(await recover({ since: iso(base + 10_000), until: iso(base + 30_000), status: 'skipped' })).toEqual({ recovered: 1 });
    expect(await recover({ since: iso(base + 10_000), until: iso(base + 30_000) })).toEqual({ recovered: 2 });
    // `since` is the same moment, written with another offset.
    expect(await recover({ since: iso(base).replace('Z', '+00:00'), status: 'failed' })).toEqual({ recovered: 2 });
    expect(await recover({ since: '0001-01-01T00:00:00Z', until: '9999-12-31T23:59:59Z' })).toEqual({ recovered: 0 });
    expect(await recover({ since: iso(base), until: null, status: null })).toEqual({ recovered: 0 });
    expect(await recover({ since: '2028-02-29T00:00:00Z', until: null })).toEqual({ recovered: 0 });
    expect(await recover({ since: '2026-02-30T00:00:00Z', until: '9999-12-31T23:59:59-05:00' })).toEqual(
      failure(400, 'VALIDATION_ERROR', `${path}/recover`, { since: expect.any(String), until: expect.any(String) }),
    );
    // Nothing is in a time that ends before it begins.
    expect(await recover({ since: iso(base), until: iso(base - 1) })).toEqual(
      failure(400, 'VALIDATION_ERROR', `${path}/recover`, { until: 'has to be later than since' }),
    );
    expect(await recover({})).toEqual(failure(400, 'VALIDATION_ERROR', `${path}/recover`, { since: 'Field required' }));
    expect(await recover({ since: '2026-13-01T00:00:00Z', until: '12:00', status: 'succeeded' })).toEqual(
      failure(400, 'VALIDATION_ERROR', `${path}/recover`, {
        since: expect.any(String),
        until: expect.any(String),
        status: expect.stringContaining('failed'),
      }),
    );
  });

  it('are unknown under another subscription, by impossible ids, and to another organisation: one and the same 404', async () => {
    const [mine = ''] = await deliver([Date.now()]);
    const { body: other } = await ours.call('POST', one, {
      name: `Other ${count}`,
      url: 'https://x.example',
      enable_signed_webhooks: false,
    });
    const theirs = await organization(facade);
    const bare = ({ status, body }: RestAnswer): unknown => {
      const { timestamp: _, path: __, trace_id: ___, ...rest } = body as Readonly<Record<string, unknown>>;
      return [status, rest];
    };
    const unknown = [404, { status: 404, type: 'NOT_FOUND', message: 'Webhook delivery not found', details: {} }];
    const strange = [`dlv_${randomUUID()}`, mine, 'dlv_', 'x', '%00', `dlv_${mine.toUpperCase()}`, `evt_${mine}`];
    const addresses = [...strange.map((each) => `${path}/deliveries/${each}`), `${one}/${other.id}/deliveries/dlv_${mine}`];
    for (const address of addresses) {
      expect(bare(await ours.call('GET', address)), address).toEqual(unknown);
      expect(bare(await ours.call('GET', `${address}/attempts`)), address).toEqual(unknown);
      expect(bare(await ours.call('POST', `${address}/redeliver`)), address).toEqual(unknown);
    }
    for (const each of [`dlv_${mine}`, ...strange]) {
      expect(bare(await theirs.call('GET', `${one}/deliveries/${each}/attempts`)), each).toEqual(unknown);
      expect(bare(await theirs.call('POST', `${one}/deliveries/${each}/redeliver`)), each).toEqual(unknown);
    }
  });
});

describe('a test event', () => {
  it('is for its subscription alone, whatever events that is for', async () => {
    await ours.call('PATCH', path, { events: ['CallAnalysis.Completed'] });
    const { status, body } = await ours.call('POST', `${path}/test`);
    expect([status, body]).toEqual([202, { event_id: expect.stringMatching(/^evt_/), delivery_id: expect.stringMatching(/^dlv_/) }]);
    const seen: unknown[] = [];
    await dispatcher.takeOutbox(100, (events) => {
      seen.push(...events.map((event) => [event.name, event.org, event.onlySubscription, JSON.parse(event.body.toString())]));
      return { deliveries: events.map((event) => ({ event, subscriptionUid: uid, state: 'pending' })) };
    });
    const envelope = { organizationId: ours.name, traceId: body.event_id, eventName: 'Webhook.Test', payload: { subscription_id: id } };
    expect(seen).toEqual([['Webhook.Test', ours.name, uid, { ...envelope, timestamp: expect.any(Number) }]]);
    expect((await ours.call('GET', `${path}/deliveries/${body.delivery_id}`)).body).toMatchObject({
      event_id: body.event_id,
      status: 'pending',
    });
  });
});

describe('a subscription to which nothing is sent', () => {
  const refused = async (): Promise<void> => {
    for (const [action, body] of [
      ['test', undefined],
      ['recover', { since: '2026-11-21T00:00:00Z' }],
    ] as const) {
      const answer = await ours.call('POST', `${path}/${action}`, body);
      expect([answer.status, answer.body]).toEqual([409, failure(409, 'CONFLICT', `${path}/${action}`)]);
    }
  };

  it('because it is paused, answers 409 to what would send', async () => {
    const [given = ''] = await deliver([Date.now()]);
    await attempt(given, failed);
    expect((await ours.call('PATCH', path, { active: false })).body.active).toBe(false);
    await refused();
    expect((await ours.call('POST', `${path}/deliveries/dlv_${given}/redeliver`)).status).toBe(409);
    await ours.call('PATCH', path, { active: true });
    expect((await ours.call('POST', `${path}/deliveries/dlv_${given}/redeliver`)).status).toBe(202);
  });

  it('because of its failures, is shown as inactive, and switched on again by active: true, by another spec or by a request', async () => {
    const disable = async () => {
      const { metadata } = await kubectlJson<{ metadata: { generation: number } }>(['get', 'webhooksubscription', id, '-n', ours.name]);
      const ref = { org: ours.name, subscriptionUid: uid };
      expect(await facade.store.webhooks.disable({ ...ref, reason: 'the endpoint is gone', generation: metadata.generation })).toBe(true);
    };
    const active = async () => {
      const { body: list } = await ours.call('GET', '/v1/public/webhook/subscriptions?page_size=100');
      const listed = list.data.find((each: { id: string }) => each.id === id) as { active: boolean };
      return [(await ours.call('GET', path)).body.active, listed.active];
    };
    await disable();
    expect(await active()).toEqual([false, false]);
    await refused();
    expect((await ours.call('PATCH', path, { active: true })).body.active).toBe(true);
    expect(await active()).toEqual([true, true]);
    expect((await ours.call('POST', `${path}/test`)).status).toBe(202);
    await disable();
    expect(await active()).toEqual([false, false]);
    await kubectl([
      'patch',
      'webhooksubscription',
      id,
      '-n',
      ours.name,
      '--type=merge',
      '-p',
      '{"spec":{"url":"https://mended.example.com"}}',
    ]);
    await eventually(async () => expect(await active()).toEqual([true, true]));
    expect((await ours.call('POST', `${path}/test`)).status).toBe(202);
    await facade.store.webhooks.enable({ org: ours.name, subscriptionUid: uid });
    await disable();
    expect(await active()).toEqual([false, false]);
    const later = new Date(Date.now() + 1_000).toISOString();
    await kubectl(['annotate', 'webhooksubscription', id, '-n', ours.name, `parley.dev/reconcile-requested-at=${later}`]);
    await eventually(async () => expect(await active()).toEqual([true, true]));
  });

  it('because its resource is suspended, answers 409 to what would send', async () => {
    const name = `suspended-${count}`;
    await kubectl(['create', '-f', '-'], aWebhookSubscription(name, ours.name, { suspend: true }));
    await eventually(async () => expect((await ours.call('POST', `${one}/${name}/test`)).status).toBe(409));
  });
});

describe('what is written', () => {
  it('stands in the watermark before it is answered', async () => {
    const seen = async () => {
      const rows = await dispatcher.takeOutbox(1, (events) => {
        marks.push(...events.map(({ watermark }) => watermark));
        return { deliveries: [] };
      });
      return rows.taken;
    };
    const marks: unknown[] = [];
    const emit = async (): Promise<{ subscriptions: string; secrets: string }> => {
      while ((await seen()) > 0);
      marks.length = 0;
      await facade.store.webhooks.insert(ours.name, [
        buildEvent({ name: 'CallHandler.RecordingReady', org: ours.name, payload, now: Date.now() }),
      ]);
      await seen();
      return marks[0] as { subscriptions: string; secrets: string };
    };
    /** Returns the API server's present resource version. */
    const listed = async (): Promise<string> => {
      const list = await kubectl(['get', '--raw', '/apis/parley.dev/v1beta1/webhooksubscriptions?limit=1']);
      return (JSON.parse(list) as { metadata: { resourceVersion: string } }).metadata.resourceVersion;
    };
    const versionOf = async (kind: string, name: string): Promise<string> =>
      (await kubectlJson<{ metadata: { resourceVersion: string } }>(['get', kind, name, '-n', ours.name])).metadata.resourceVersion;
    const { body: signed } = await ours.call('POST', one, {
      name: `Signed ${count}`,
      url: 'https://x.example',
      enable_signed_webhooks: true,
    });
    const secret = `webhooksubscription-${signed.id}`;
    expect(await emit()).toMatchObject({
      subscriptions: await versionOf('webhooksubscription', signed.id),
      secrets: await versionOf('secret', secret),
    });
    await ours.call('PATCH', `${one}/${signed.id}`, { headers: { Authorization: 'x' } });
    expect(await emit()).toMatchObject({
      subscriptions: await versionOf('webhooksubscription', signed.id),
      secrets: await versionOf('secret', secret),
    });
    await ours.call('POST', `${one}/${signed.id}/rotate-secret`, {});
    const before = await emit();
    expect(before.secrets).toBe(await versionOf('secret', secret));
    await ours.call('DELETE', `${one}/${signed.id}`);
    const { subscriptions } = await emit();
    expect(BigInt(subscriptions)).toBeGreaterThan(BigInt(before.subscriptions));
    // The version is that of this very deletion: a watermark with a later one waits for a write that may never come.
    const others = (await kubectlJson<{ items: { metadata: { resourceVersion: string } }[] }>(['get', 'webhooksubscriptions', '-A'])).items;
    expect(others.map(({ metadata }) => metadata.resourceVersion)).not.toContain(subscriptions);
    expect(BigInt(subscriptions)).toBeLessThanOrEqual(BigInt(await listed()));
  });
});
