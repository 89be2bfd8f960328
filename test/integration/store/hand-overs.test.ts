/** Calls that several agents take part in. */
import { expect, it } from 'vitest';

import { othersOfCall } from '../../../calls/handoffs.ts';
import { CallLifecycle } from '../../../calls/lifecycle.ts';
import { systemClock } from '../../../platform/clock.ts';
import { newCallId, type Store } from '../../../store/index.ts';
import { canaryShareOf } from '../../../store/releases/canary-share.ts';
import { registerCall, someUsage } from './calls-support.ts';
import { freshStore, revisionOf, session } from './support.ts';

const org = 'acme';

async function put(store: Store, agentName: string, content: object): Promise<string> {
  const { revision, config } = revisionOf({ name: agentName, displayName: `The ${agentName}`, agent: {}, ...content });
  await store.agentRevisions.put({ org, agentName, revision, config });
  return revision;
}

async function serve(store: Store, agentName: string, content: object = {}): Promise<string> {
  const revision = await put(store, agentName, content);
  await store.agentReleases.serve({ org, agentName, revision, configHash: revision });
  return revision;
}

const handoffs = (...names: readonly string[]) => ({
  agent: { handoffs: names.map((name) => ({ agentRef: { name }, when: 'it suits' })) },
});

it('keep the revision of each agent that they would have in a call of its own, whatever serves later', async () => {
  const { store } = await freshStore();
  await serve(store, 'desk', handoffs('billing', 'gone'));
  const former = await serve(store, 'billing', handoffs('desk'));
  const canary = await put(store, 'billing', { letter: 'canary' });
  await store.agentReleases.change({
    org,
    agentName: 'billing',
    change: { type: 'begin_canary', revision: canary, configHash: canary, percent: 50 },
  });
  const { config } = (await store.agentRevisions.servingByName({ org, agentName: 'desk' }))!;
  await store.organizations.limitLiveCalls(org, 100);
  const ids = Array.from({ length: 20 }, newCallId);
  for (const id of ids) {
    const isCanary = canaryShareOf(id) < 50;
    const others = await othersOfCall({ org, callId: id, config }, store.agentRevisions);
    expect(others).toEqual([{ agentName: 'billing', revision: isCanary ? canary : former, canary: isCanary }]);
    await registerCall(store, org, { id, agentName: 'desk', others });
  }
  await store.agentReleases.retire({ org, agentName: 'billing' });
  for (const id of ids)
    expect(await store.calls.calls.others({ org, id })).toMatchObject([
      {
        agentName: 'billing',
        revision: canaryShareOf(id) < 50 ? canary : former,
        canary: canaryShareOf(id) < 50,
        config: { displayName: 'The billing' },
      },
    ]);
});

it('keep the revisions of their agents while they go on', async () => {
  const { store } = await freshStore();
  const old = await serve(store, 'billing', { letter: 'old' });
  const ref = await registerCall(store, org, { others: [{ agentName: 'billing', revision: old, canary: false }] });
  for (const letter of ['a', 'b']) await serve(store, 'billing', { letter });
  const prune = () => store.agentRevisions.prune({ org, keepNewest: 1, keepForMs: 0 });
  await prune();
  expect(await store.agentRevisions.get({ org, agentName: 'billing', revision: old })).toBeDefined();
  await store.calls.calls.end({ ...ref, reason: 'user_ended_call', events: () => [] });
  await prune();
  expect(await store.agentRevisions.get({ org, agentName: 'billing', revision: old })).toBeUndefined();
});

it('count for each agent that took part, with its own turns, tools and cost', async () => {
  const { store, url } = await freshStore();
  const revisions = { desk: await serve(store, 'desk'), billing: await serve(store, 'billing'), dentist: await serve(store, 'dentist') };
  const ref = await registerCall(store, org, {
    agentName: 'desk',
    revision: revisions.desk,
    others: (['billing', 'dentist'] as const).map((agentName) => ({ agentName, revision: revisions[agentName], canary: false })),
  });
  const latencies = { eou: null, stt: null, llmTtft: null, ttsTtfb: null };
  const tool = { arguments: {}, result: '{}', beganAt: new Date(0), durationMs: 1 };
  await store.calls.log.add(ref, {
    messages: [
      { seq: 1, role: 'user', content: 'an invoice', spokenAt: new Date(0), interrupted: false, sources: null },
      { seq: 2, role: 'agent', agent: 'billing', content: 'Paid.', spokenAt: new Date(0), interrupted: false, sources: null },
    ],
    turns: [
      { seq: 2, agent: 'billing', ...latencies, v2v: 700 },
      { seq: 4, agent: 'desk', ...latencies, v2v: 300 },
    ],
    toolCalls: [
      { seq: 3, agent: 'billing', name: 'find', failed: true, ...tool },
      { seq: 5, agent: 'desk', name: 'hand_over_to_billing', failed: false, ...tool },
    ],
    takeovers: [
      { seq: 3, agent: 'billing', events: [] },
      { seq: 5, agent: 'desk', events: [] },
    ],
    usage: [
      { ...someUsage(), agent: 'desk' },
      { ...someUsage({ cost: { micros: 70_000n, currency: 'USD', priceVersion: 'v1' } }), agent: 'billing' },
    ],
  });
  await store.calls.calls.start({ ...ref, jobId: 'job', events: () => [] });
  await store.calls.calls.end({ ...ref, reason: 'llm_websocket_runtime_error', events: () => [] });
  const of = (agentName: keyof typeof revisions) => store.releaseFigures.of({ org, agentName, revision: revisions[agentName] });
  expect(await of('desk')).toMatchObject({ calls: 1, errors: 1, failedToolCalls: 0, p95VoiceToVoiceMs: 300 });
  expect(await of('billing')).toMatchObject({ calls: 1, errors: 1, failedToolCalls: 1, p95VoiceToVoiceMs: 700 });
  expect(await of('dentist')).toMatchObject({ calls: 0, errors: 0 });
  const spent = (agentName: string) => store.calls.usage.spentSince({ org, agentName, currency: 'USD', since: new Date(0) });
  expect([await spent('desk'), await spent('billing'), await spent('dentist')]).toEqual([10_000n, 70_000n, 0n]);
  expect((await store.calls.usage.ofCall(ref)).map(({ agent, cost }) => [agent, cost?.micros])).toEqual([
    ['billing', 70_000n],
    ['desk', 10_000n],
  ]);
  const sums = await store.calls.usage.sums({
    org,
    from: new Date(0),
    to: new Date(Date.now() + 60_000),
    groupBy: 'agent',
    timeZone: 'UTC',
    limit: 10,
  });
  expect(sums.map(({ key, calls }) => [key, calls])).toEqual([
    [['billing'], 1],
    [['desk'], 1],
  ]);
  expect((await store.calls.log.read(ref)).messages.map(({ agent }) => agent)).toEqual([null, 'billing']);
  const client = await session(url);
  const { rows } = await client.query('SELECT agent_name, took_over_at IS NOT NULL AS took_over FROM parley.call_agents ORDER BY 1');
  expect(rows).toEqual([
    { agent_name: 'billing', took_over: true },
    { agent_name: 'dentist', took_over: false },
  ]);
});

it('tell subscribers of a hand-over once, however often it is sent', async () => {
  const { store, url } = await freshStore();
  const revision = await serve(store, 'billing');
  const ref = await registerCall(store, org, { agentName: 'desk', others: [{ agentName: 'billing', revision, canary: false }] });
  const call = (await store.calls.calls.get(ref))!;
  const lifecycle = new CallLifecycle({ calls: store.calls.calls, clock: systemClock });
  const toolCall = { seq: 3, agent: 'desk', name: 'hand_over_to_billing', arguments: {}, result: '{}', failed: false };
  const send = () =>
    store.calls.log.add(ref, {
      toolCalls: [{ ...toolCall, beganAt: new Date(0), durationMs: 1 }],
      takeovers: [{ seq: 3, agent: 'billing', events: lifecycle.handedOver(call, { from: 'desk', to: 'billing' }) }],
    });
  await send();
  await send();
  const client = await session(url);
  const { rows } = await client.query<{ name: string; body: Buffer }>(
    'SELECT e.name, b.body FROM parley.events e JOIN parley.event_bodies b ON b.id = e.id WHERE e.call_id = $1',
    [ref.id],
  );
  expect(rows.map(({ name, body }) => [name, (JSON.parse(body.toString()) as { readonly payload: object }).payload])).toEqual([
    ['CallHandler.CallHandedOver', { call_id: ref.id, agent_id: 'desk', status: 'ongoing', from_agent_id: 'desk', to_agent_id: 'billing' }],
  ]);
});
