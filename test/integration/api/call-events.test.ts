/** Follows calls as clients do, with what a job would store and pass on. */
import { describe, expect, it, onTestFinished } from 'vitest';

import { CallLifecycle } from '../../../calls/lifecycle.ts';
import { systemClock } from '../../../platform/clock.ts';
import type { CallMessage, CallRef, CallToolCall } from '../../../store/index.ts';
import { eventually } from '../../support/eventually.ts';
import { followCall, type SentEvent } from '../../support/followed-call.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { registerCall } from '../store/calls-support.ts';
import { realMediaServer } from './calls-support.ts';
import { organization, startFacade, type Facade } from './facade.ts';

const server = suiteFixture(realMediaServer);
const facade = suiteFixture(() => startFacade({ calls: { mediaServer: server } }));
const org = suiteFixture(() => organization(facade));

/** Opens the events of a call, until the test is over. */
async function follow(id: string, { at = facade, key = org.key, lastEventId }: { at?: Facade; key?: string; lastEventId?: string } = {}) {
  const followed = await followCall({ url: at.url, key, id, lastEventId });
  onTestFinished(() => followed.leave());
  return followed;
}

const lifecycle = (): CallLifecycle => new CallLifecycle({ calls: facade.store.calls.calls, clock: systemClock });

async function liveCall(): Promise<CallRef> {
  await facade.store.organizations.limitLiveCalls(org.name, 1_000);
  const ref = await registerCall(facade.store, org.name);
  await lifecycle().start({ ...ref, jobId: 'job' });
  return ref;
}

const message = (seq: number, content: string): CallMessage => ({
  seq,
  role: seq % 2 === 0 ? 'agent' : 'user',
  content,
  spokenAt: new Date(1_000_000 + seq),
  interrupted: false,
  sources: null,
});
const tool: CallToolCall = {
  seq: 3,
  name: 'look_up',
  arguments: { id: 1 },
  result: 'ok',
  failed: false,
  beganAt: new Date(0),
  durationMs: 5,
};
const named = (events: readonly SentEvent[]): readonly string[] =>
  events.map(({ event, data }) => `${event} ${data.content ?? data.name ?? ''}`.trim());

describe('the events of a call', () => {
  it('are what is stored, in the order in which it was written, and end with the call', async () => {
    const ref = await liveCall();
    const { log } = facade.store.calls;
    await log.add(ref, { messages: [message(2, 'Hello.')] });
    const stream = await follow(ref.id);
    await eventually(() => expect(named(stream.events)).toEqual(['call', 'message Hello.']));
    // The answer began earlier than the user's words were understood, and was written later.
    await log.add(ref, { messages: [message(5, 'What?')], toolCalls: [tool] });
    await log.add(ref, { messages: [message(4, 'Nine.')], turns: [{ seq: 4, eou: 1, stt: 2, llmTtft: 3, ttsTtfb: 4, v2v: 5 }] });
    await lifecycle().end({ ...ref, reason: 'user_ended_call' });
    await stream.ended;
    expect(named(stream.events)).toEqual(['call', 'message Hello.', 'message What?', 'tool_call look_up', 'message Nine.', 'turn', 'end']);
    expect(stream.events[0]?.data).toEqual({ call_status: 'ongoing' });
    expect(stream.events.at(-1)?.data).toMatchObject({ call_status: 'ended', call_finish_reason: 'user_ended_call' });
    // The data are those of the call's own record.
    const { body } = await org.call('GET', `/v1/calls/${ref.id}`);
    const of = (event: string): readonly unknown[] => stream.events.filter((each) => each.event === event).map(({ data }) => data);
    expect(of('message')).toEqual(expect.arrayContaining(body.messages));
    expect([of('tool_call'), of('turn')]).toEqual([body.tool_calls, body.turns]);
  });

  it('go on behind the last one that a client has, at whatever replica, and are none behind the end', async () => {
    const ref = await liveCall();
    const { log } = facade.store.calls;
    await log.add(ref, { messages: [message(1, 'one'), message(2, 'two')] });
    const first = await follow(ref.id);
    await eventually(() => expect(named(first.events)).toEqual(['call', 'message one', 'message two']));
    first.leave();
    await log.add(ref, { messages: [message(3, 'three')] });
    const replica = await startFacade({ database: facade.database, calls: { mediaServer: server } });
    onTestFinished(() => replica.close());
    const [, one] = first.events;
    const second = await follow(ref.id, { at: replica, lastEventId: one?.id ?? '' });
    await eventually(() => expect(named(second.events)).toEqual(['call', 'message two', 'message three']));
    await lifecycle().end({ ...ref, reason: 'user_ended_call' });
    await second.ended;
    expect((await follow(ref.id, { lastEventId: second.events.at(-1)?.id ?? '' })).status).toBe(204);
    const whole = await follow(ref.id);
    await whole.ended;
    expect(named(whole.events)).toEqual(['message one', 'message two', 'message three', 'end']);
  });

  it('have what the job passes on, at every replica, and nothing of other calls', async () => {
    const [ref, other] = [await liveCall(), await liveCall()];
    const replica = await startFacade({ database: facade.database, calls: { mediaServer: server } });
    onTestFinished(() => replica.close());
    const streams = [await follow(ref.id), await follow(ref.id, { at: replica }), await follow(other.id)];
    const { events } = facade.store.calls;
    const state = { type: 'state', agent: 'thinking', muted: false, held: false, takenOver: true } as const;
    const words = { type: 'words', id: 'user-1', role: 'user', text: "what's \\ \u0000 it".repeat(900), final: false } as const;
    await eventually(async () => {
      // A replica that doesn't listen yet misses what is passed on.
      await events.publish(ref.id, [words, state, { type: 'tool_started', name: 'look_up', at: 5 }]);
      for (const stream of streams.slice(0, 2)) expect(stream.events.map(({ event }) => event)).toContain('tool_started');
    });
    for (const { events: sent } of streams.slice(0, 2)) {
      const data = (event: string): unknown => sent.find((each) => each.event === event)?.data;
      expect(data('words')).toEqual({ line: 'user-1', role: 'user', text: words.text.slice(-1_200), final: false });
      expect(data('state')).toEqual({ agent: 'thinking', muted: false, held: false, taken_over: true });
      expect(sent.filter(({ event }) => event !== 'message').every(({ id }) => id === undefined)).toBe(true);
    }
    expect(named(streams[2]!.events)).toEqual(['call']);
  });

  it('end for a client whose call is deleted, and for all when the server stops', async () => {
    const replica = await startFacade({ database: facade.database, calls: { mediaServer: server } });
    const ref = await liveCall();
    const [here, there] = [await follow(ref.id), await follow(ref.id, { at: replica })];
    await eventually(() => expect([named(here.events), named(there.events)]).toEqual([['call'], ['call']]));
    await replica.close();
    await there.ended;
    expect(there.events.at(-1)).toMatchObject({ event: 'closed', data: { reason: 'server_stopping' } });
    here.leave();
  });

  it('need calls:read, or a call of the same key, and concern calls of the organisation only', async () => {
    const ref = await liveCall();
    const other = await organization(facade);
    const [maker, writer] = [await org.keyWith('calls:create'), await org.keyWith('agents:read')];
    const statuses = await Promise.all([other.key, maker, writer].map(async (key) => (await follow(ref.id, { key })).status));
    expect(statuses).toEqual([404, 404, 403]);
    expect(
      (await org.call('GET', `/v1/calls/${ref.id}/events`, undefined, { headers: { 'last-event-id': 'x' } })).body.detail,
    ).toMatchObject([{ loc: ['header', 'Last-Event-ID'] }]);
    expect((await org.call('HEAD', `/v1/calls/${ref.id}/events`)).status).toBe(200);
  });
});
