/** REST says what calls have used and what it costs. */
import { describe, expect, it } from 'vitest';

import { CallLifecycle } from '../../../calls/lifecycle.ts';
import { systemClock } from '../../../platform/clock.ts';
import type { NewCall, UsageLine } from '../../../store/index.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { registerCall, someUsage } from '../store/calls-support.ts';
import { session } from '../store/support.ts';
import { organization, startFacade } from './facade.ts';

const facade = suiteFixture(startFacade);
const org = suiteFixture(() => organization(facade));

/** Makes a call that has used something. */
async function used(call: Partial<NewCall>, ...lines: readonly Partial<UsageLine>[]): Promise<string> {
  const ref = await registerCall(facade.store, org.name, call);
  await facade.store.calls.log.add(ref, { usage: someUsage(...lines) });
  return ref.id;
}

const euro = (micros: bigint) => ({ cost: { micros, currency: 'EUR', priceVersion: 'v1' } });

describe('the usage of a call', () => {
  it('has what its kind is measured in, and the sum', async () => {
    const id = await used(
      { agentName: 'one' },
      euro(1_500n),
      { kind: 'tts', model: '', characters: 12, audioMilliseconds: 1_250, ...euro(180n) },
      { kind: 'stt', provider: 'deepgram', audioMilliseconds: 60_000, ...euro(7_700n) },
      { kind: 'embedding', estimatedRequests: 1, inputTokens: 9, cachedInputTokens: 0, ...euro(1n) },
      { kind: 'rerank', provider: 'cohere', inputTokens: 0, cachedInputTokens: 0, ...euro(2_000n) },
    );
    const { body } = await org.call('GET', `/v1/calls/${id}`);
    expect(body.cost).toEqual({ amount: '0.011381', currency: 'EUR' });
    expect(body.usage).toEqual({
      items: [
        {
          kind: 'embedding',
          provider: 'openai',
          model: 'm',
          purpose: 'conversation',
          requests: 1,
          estimated_requests: 1,
          input_tokens: 9,
          cost: { amount: '0.000001', currency: 'EUR' },
          price_version: 'v1',
        },
        {
          kind: 'llm',
          provider: 'openai',
          model: 'm',
          purpose: 'conversation',
          requests: 1,
          estimated_requests: 0,
          input_tokens: 100,
          cached_input_tokens: 20,
          output_tokens: 10,
          reasoning_tokens: 0,
          cost: { amount: '0.0015', currency: 'EUR' },
          price_version: 'v1',
        },
        {
          kind: 'rerank',
          provider: 'cohere',
          model: 'm',
          purpose: 'conversation',
          requests: 1,
          input_tokens: 0,
          cost: { amount: '0.002', currency: 'EUR' },
          price_version: 'v1',
        },
        {
          kind: 'stt',
          provider: 'deepgram',
          model: 'm',
          purpose: 'conversation',
          requests: 1,
          audio_seconds: 60,
          cost: { amount: '0.0077', currency: 'EUR' },
          price_version: 'v1',
        },
        {
          kind: 'tts',
          provider: 'openai',
          purpose: 'conversation',
          requests: 1,
          characters: 12,
          audio_seconds: 1.25,
          cost: { amount: '0.00018', currency: 'EUR' },
          price_version: 'v1',
        },
      ],
      cost: { amount: '0.011381', currency: 'EUR' },
      unpriced: [],
    });
    const { body: list } = await org.call('GET', '/v1/calls?ai_agent_ids=one');
    expect(list.calls.map(({ cost }: { cost: unknown }) => cost)).toEqual([body.cost]);
  });

  it('has no cost while a model has no price, and names it', async () => {
    const id = await used({ agentName: 'two' }, euro(1_500n), { kind: 'stt', provider: 'own', model: 'ears', cost: null });
    const { body } = await org.call('GET', `/v1/calls/${id}`);
    expect(body.usage).toMatchObject({ cost: null, unpriced: [{ kind: 'stt', provider: 'own', model: 'ears' }] });
    expect(body.usage.items.map(({ cost }: { cost: unknown }) => cost)).toEqual([{ amount: '0.0015', currency: 'EUR' }, null]);
  });

  it('is nothing before anything is used', async () => {
    const { id } = await registerCall(facade.store, org.name, { agentName: 'three' });
    expect((await org.call('GET', `/v1/calls/${id}`)).body.usage).toEqual({ items: [], cost: null, unpriced: [] });
  });

  it('replaces what the same writer has stored, and joins what others have', async () => {
    const ref = await registerCall(facade.store, org.name, { agentName: 'four' });
    const rows = someUsage({ outputTokens: 10 });
    await facade.store.calls.log.add(ref, { usage: rows });
    await facade.store.calls.log.add(ref, { usage: rows });
    await facade.store.calls.log.add(ref, { usage: { ...rows, lines: someUsage({ outputTokens: 25 }).lines } });
    await facade.store.calls.usage.store(ref, someUsage({ outputTokens: 3 }));
    expect((await facade.store.calls.usage.ofCall(ref)).map(({ requests, outputTokens }) => [requests, outputTokens])).toEqual([[2, 28]]);
  });

  it('is in the event of its end', async () => {
    const id = await used({ agentName: 'five' });
    const lifecycle = new CallLifecycle({ calls: facade.store.calls.calls, clock: systemClock });
    await lifecycle.end({ org: org.name, id, reason: 'user_ended_call' });
    const { rows } = await (
      await session(facade.database.url)
    ).query<{ body: Buffer }>(
      'SELECT b.body FROM parley.events e JOIN parley.event_bodies b ON b.id = e.id WHERE e.org = $1 AND e.call_id = $2',
      [org.name, id],
    );
    expect(rows.map(({ body }) => JSON.parse(body.toString()).payload.usage)).toEqual([
      (await org.call('GET', `/v1/calls/${id}`)).body.usage,
    ]);
  });
});

describe('the usage of many calls', () => {
  const at = async (id: string, time: string) =>
    (await session(facade.database.url)).query('UPDATE parley.calls SET created_at = $2 WHERE id = $1', [id, time]);

  it('is summed by agent, day and model, within a time', async () => {
    await at(await used({ agentName: 'sums-a' }, euro(10_000n), { kind: 'tts', characters: 5, ...euro(1n) }), '2026-01-05T22:30:00Z');
    await at(await used({ agentName: 'sums-b', overrideAgentName: 'sums-a' }, euro(20_000n)), '2026-01-05T23:30:00Z');
    await at(await used({ agentName: 'sums-b' }, { ...euro(5n), cost: null }), '2026-01-06T12:00:00Z');
    await at(await used({ agentName: 'sums-b', test: { runId: 'r', testName: 't', tools: [] } }), '2026-01-06T12:00:00Z');
    await at(await used({ agentName: 'sums-a' }), '2026-02-01T00:00:00Z');
    const sums = async (query: string) => {
      const { status, body } = await org.call('GET', `/v1/usage?from=2026-01-01&to=2026-02-01&${query}`);
      expect([status, body.complete]).toEqual([200, true]);
      return body.data;
    };
    expect(await sums('group_by=agent')).toMatchObject([
      {
        ai_agent_id: 'sums-a',
        calls: 2,
        usage: { cost: { amount: '0.030001', currency: 'EUR' }, items: [{ kind: 'llm', requests: 2 }, { kind: 'tts' }] },
      },
      { ai_agent_id: 'sums-b', calls: 1, usage: { cost: null, unpriced: [{ kind: 'llm', provider: 'openai', model: 'm' }] } },
    ]);
    const days = async (query: string) =>
      (await sums(`group_by=day&${query}`)).map(({ day, calls }: { day: string; calls: number }) => [day, calls]);
    expect(await days('')).toEqual([
      ['2026-01-05', 2],
      ['2026-01-06', 1],
    ]);
    expect(await days('time_zone=Europe/Berlin')).toEqual([
      ['2026-01-05', 1],
      ['2026-01-06', 2],
    ]);
    expect(await days('ai_agent_ids=sums-b')).toEqual([['2026-01-06', 1]]);
    expect(await days('ai_agent_ids=%00')).toEqual([]);
    expect(
      (await sums('group_by=model')).map(({ calls, usage }: { calls: number; usage: { items: { kind: string }[] } }) => [
        calls,
        usage.items.map(({ kind }) => kind),
      ]),
    ).toEqual([
      [3, ['llm']],
      [1, ['tts']],
    ]);
  });

  it.each([
    ['from=2026-02-01&to=2026-01-01', 'from'],
    ['from=2024-01-01&to=2026-01-01', 'from'],
    ['to=9999-12-31T23:59:59.9999999-05:00', 'to'],
    ['to=0001-01-01T00:00:00%2b05:00', 'to'],
    ['to=0001-01-01', 'from'],
    ['time_zone=Mars', 'time_zone'],
    ['group_by=day&time_zone=AET', 'time_zone'],
    ['group_by=day&time_zone=IST', 'time_zone'],
    ['group_by=colour', 'group_by'],
  ])('is refused for %s', async (query, field) => {
    const { status, body } = await org.call('GET', `/v1/usage?${query}`);
    expect([status, body.detail[0].loc]).toEqual([422, ['query', field]]);
  });

  it('is of the own organisation alone, for keys that may read calls', async () => {
    const other = await organization(facade);
    expect((await other.call('GET', '/v1/usage?from=2026-01-01&to=2026-02-01')).body).toEqual({ data: [], complete: true });
  });
});
