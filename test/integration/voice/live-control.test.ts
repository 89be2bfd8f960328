/** Steers a real call from outside while it goes on, over REST. */
import { dispose } from '@livekit/rtc-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { suiteFolder } from '../../support/folders.ts';
import { followCall, type FollowedCall } from '../../support/followed-call.ts';
import { Servers, sendJson, startEndpoint } from '../../support/http-servers.ts';
import { marksIn } from '../../support/synthetic-speech.ts';
import { allLeave, now, TestCaller } from '../../support/test-caller.ts';
import { startFacade, type Facade, type RestAnswer } from '../api/facade.ts';
import { openRecordingStage, WELCOME, type RecordingStage } from './recording-stage.ts';
import { sayOnce, type CallWish, type StagedCall } from './stage.ts';

const folder = suiteFolder();
const servers = new Servers();
/** Those who have joined calls beside their users. */
const beside: TestCaller[] = [];

let stage: RecordingStage;
let facade: Facade;
let key: string;

beforeAll(async () => {
  stage = await openRecordingStage(folder);
  facade = await startFacade({ database: { url: stage.env['DATABASE_URL']! }, calls: { mediaServer: stage.server } });
  const permissions = ['calls:read', 'calls:control', 'calls:listen'] as const;
  ({ apiKey: key } = await stage.store.apiKeys.create({ org: stage.org, name: 'desk', permissions, expirationDays: 1, userId: 'ada' }));
});
afterAll(async () => {
  await allLeave(beside);
  await facade.close();
  await stage.close();
  await servers.stop();
  await dispose();
});

const post = (call: StagedCall, command: string, body?: object): Promise<RestAnswer> =>
  facade.call('POST', `/v1/calls/${call.id}/${command}`, { key, ...(body !== undefined && { body }) });

const follow = (call: StagedCall): Promise<FollowedCall> => followCall({ url: facade.url, key, id: call.id });

/** Joins a call with the token that a route gives. */
async function join(
  call: StagedCall,
  route: 'listen' | 'take-over',
  { microphone }: { readonly microphone: boolean },
): Promise<TestCaller> {
  const { body } = await post(call, route);
  const joined = new TestCaller();
  beside.push(joined);
  // The token names the address for browsers.
  await joined.join({ url: stage.server.url, token: body.access_token, microphone });
  return joined;
}

/** Returns a call whose welcome message was heard, and whose agent answers everything. */
async function greeted(answer = 'Nine hundred.', tools: CallWish['tools'] = []): Promise<StagedCall> {
  // Words behind a hole in the sound still belong to the same turn.
  const call = await stage.call({ spec: { welcomeMessage: WELCOME, turnDetection: { endOfSpeechDelay: '3s' } }, tools });
  call.provider.chat(() => answer);
  call.provider.speech(() => ({ msPerCharacter: 100 }));
  await call.join();
  await call.caller.hears(WELCOME);
  await call.becomes({ status: 'ongoing' });
  return call;
}

const transcript = async (call: StagedCall): Promise<readonly string[]> =>
  (await call.messages()).map(({ role, content }) => `${role}: ${content}`);

describe.concurrent('a call that goes on', () => {
  it('has its agent say what a supervisor writes, and its model know what only the model is told', async () => {
    const call = await greeted();
    const said = 'A colleague joins us in a moment.';
    const answer = await post(call, 'say', { text: said });
    expect([answer.status, answer.body]).toMatchObject([200, { kind: 'say', status: 'done', created_by_user_id: 'ada' }]);
    await call.caller.hears(said);
    await eventually(async () => expect(await transcript(call)).toContain(`agent: ${said}`));
    const told = 'Offer a discount of 10 percent.';
    expect((await post(call, 'instructions', { text: told })).status).toBe(200);
    expect(call.provider.requests('chat')).toEqual([]);
    await call.says('what does it cost');
    await call.caller.hears('Nine hundred.');
    const request = call.provider.requests('chat').at(-1);
    expect(request?.system).toContain(told);
    // The model sees what was said in its name.
    expect(JSON.stringify(request?.body)).toContain(said);
    expect((await transcript(call)).join('\n')).not.toContain(told);
    expect(call.lines()).toContainEqual(expect.objectContaining({ msg: 'carried out a command', kind: 'say', user: 'ada' }));
  });

  it('has a muted agent neither speak nor answer, while what is said is written down', async () => {
    const call = await greeted();
    expect((await post(call, 'mute', { muted: true })).status).toBe(200);
    const refused = await post(call, 'say', { text: 'Hello?' });
    expect([refused.status, refused.body.message]).toEqual([409, 'the agent is muted']);
    const silentSince = now();
    await call.says('is anybody there');
    await eventually(async () => expect(await transcript(call)).toContain('user: is anybody there'));
    expect((await post(call, 'mute', { muted: false })).status).toBe(200);
    await call.says('what does it cost');
    await call.caller.hears('Nine hundred.', { since: silentSince });
    // Nothing else was said before, and the first question was not answered by itself.
    expect(call.provider.requests('chat').map(({ lastUser }) => lastUser)).not.toContain('is anybody there');
    expect(JSON.stringify(call.provider.requests('chat').at(-1)?.body)).toContain('is anybody there');
    expect(call.caller.tones(silentSince).length).toBeGreaterThan(0);
    const { body } = await facade.call('GET', `/v1/calls/${call.id}/commands`, { key });
    expect(body.data.map((each: { kind: string; status: string }) => [each.kind, each.status])).toEqual([
      ['mute', 'done'],
      ['say', 'refused'],
      ['mute', 'done'],
    ]);
  });

  it('tells who follows it what is said, as it comes, what tools do, and in which state the agent is', async () => {
    const endpoint = await startEndpoint(servers, (response) => sendJson(response, { price: 900 }));
    const fn = { name: 'look_up', description: 'Looks it up.', parameters: { type: 'object', properties: {} } };
    const http = { method: 'GET', url: endpoint.url, timeout: '20s' } as const;
    const call = await greeted('', [
      { name: 'look-up', functionName: 'look_up', spec: { type: 'Custom', custom: { function: fn, http }, messages: {} } },
    ]);
    call.provider.chat(({ toolResults }) => (toolResults.length === 0 ? { toolCalls: [{ name: 'look_up' }] } : 'Nine hundred.'));
    const followed = await follow(call);
    const data = (event: string): readonly unknown[] => followed.events.filter((each) => each.event === event).map((each) => each.data);
    await eventually(() => expect(data('state')).toContainEqual({ agent: 'listening', muted: false, held: false, taken_over: false }));
    await call.says('what does it cost');
    await call.caller.hears('Nine hundred.');
    await eventually(() => {
      expect(data('message')).toMatchObject([{ content: WELCOME }, { content: 'what does it cost' }, { content: 'Nine hundred.' }]);
      expect(data('words')).toContainEqual(expect.objectContaining({ role: 'user', text: 'what does it cost', final: true }));
      expect(data('words')).toContainEqual(expect.objectContaining({ role: 'agent', text: 'Nine hundred.', final: true }));
      expect(data('tool_started')).toMatchObject([{ name: 'look_up' }]);
      expect(data('tool_call')).toMatchObject([{ name: 'look_up', is_error: false }]);
      expect(data('turn')).toHaveLength(1);
      for (const agent of ['thinking', 'speaking']) expect(data('state')).toContainEqual(expect.objectContaining({ agent }));
    });
    await call.caller.leave();
    await followed.ended;
    expect(followed.events.at(-1)).toMatchObject({ event: 'end', data: { call_status: 'ended', call_finish_reason: 'user_ended_call' } });
  });

  it('keeps personal data out of what is passed on and kept of commands, where its agent does', async () => {
    const call = await stage.call({ spec: { welcomeMessage: WELCOME, redaction: { kinds: ['Card'] } } });
    call.provider.chat(() => 'Nine hundred.');
    await call.join();
    await call.caller.hears(WELCOME);
    await call.becomes({ status: 'ongoing' });
    const followed = await follow(call);
    const said = 'Is it 4111 1111 1111 1111?';
    expect((await post(call, 'say', { text: said })).status).toBe(200);
    await call.caller.hears(said);
    await eventually(() =>
      expect(followed.events.filter(({ event }) => event === 'message').map(({ data }) => data.content)).toContain('Is it [card]?'),
    );
    const { body } = await facade.call('GET', `/v1/calls/${call.id}/commands`, { key });
    expect(body.data).toMatchObject([{ kind: 'say', status: 'done', body: { text: 'Is it [card]?' } }]);
    expect(JSON.stringify(followed.events)).not.toContain('4111');
    expect(followed.events.map(({ event }) => event)).not.toContain('words');
  });

  it('is heard on both sides by a listener whom nobody sees, and who changes nothing', async () => {
    const call = await greeted();
    const before = call.provider.requests().length;
    const listener = await join(call, 'listen', { microphone: false });
    const since = now();
    await eventually(() => expect(new Set(listener.heard.map(({ track }) => track))).toEqual(new Set(['agent', 'microphone'])));
    const said = 'A colleague joins us in a moment.';
    await post(call, 'say', { text: said });
    await listener.hears(said);
    await eventually(async () => expect(await transcript(call)).toContain(`agent: ${said}`));
    // The user's side comes on the user's own track.
    await call.says('what does it cost');
    await eventually(() => expect(listener.loudnessOf('microphone', since)).toBeGreaterThan(0.05));
    await listener.hears('Nine hundred.', { since });
    expect(call.caller.room.remoteParticipants.size).toBe(1);
    expect([...listener.room.remoteParticipants.values()].map(({ identity }) => identity)).toContain(`user-${call.id}`);
    await eventually(async () =>
      expect(await transcript(call)).toEqual([`agent: ${WELCOME}`, `agent: ${said}`, 'user: what does it cost', 'agent: Nine hundred.']),
    );
    // One more sentence was said, one was understood, one answer was asked for.
    expect(call.provider.requests('chat')).toHaveLength(1);
    expect(call.provider.requests().length).toBeGreaterThan(before);
    await listener.leave();
    expect((await call.record()).status).toBe('ongoing');
    const { body } = await facade.call('GET', `/v1/calls/${call.id}/commands`, { key });
    expect(body.data).toMatchObject([{ kind: 'listen', status: 'done', created_by_user_id: 'ada' }, { kind: 'say' }]);
    expect(facade.log()).toContain('let somebody into the room of a call');
  });

  it('is taken over by a person, who is heard, recorded and transcribed, and gives it back by leaving', async () => {
    const call = await greeted();
    const followed = await follow(call);
    const states = (): readonly unknown[] => followed.events.filter(({ event }) => event === 'state').map(({ data }) => data);
    const since = now();
    const supervisor = await join(call, 'take-over', { microphone: true });
    await eventually(() => expect(states()).toContainEqual({ agent: 'listening', muted: true, held: false, taken_over: true }));
    const kept = await post(call, 'mute', { muted: false });
    expect([kept.status, kept.body.message]).toMatchObject([409, expect.stringContaining('taken the call over')]);
    await sayOnce({ caller: supervisor, servers: [call.provider], text: 'this is Ada speaking', ms: 1_500 });
    await eventually(() => expect(call.caller.loudnessOf('microphone', since)).toBeGreaterThan(0.05));
    await eventually(async () => expect(await transcript(call)).toContain('agent: this is Ada speaking'));
    await call.says('is anybody there');
    await eventually(async () => expect(await transcript(call)).toContain('user: is anybody there'));
    expect(call.provider.requests('chat')).toEqual([]);
    await supervisor.leave();
    await eventually(() => expect(states().at(-1)).toMatchObject({ muted: false, taken_over: false }));
    await call.says('what does it cost');
    await call.caller.hears('Nine hundred.');
    expect(JSON.stringify(call.provider.requests('chat').at(-1)?.body)).toContain('this is Ada speaking');
    await call.caller.leave();
    const record = await call.becomes({ status: 'ended', finishReason: 'user_ended_call' });
    const sound = await stage.soundOf(record);
    // What the agent says has no mark.
    expect(marksIn(sound.right, 48_000)).not.toEqual([]);
    expect(call.lines()).toContainEqual(expect.objectContaining({ msg: 'a person has given the call back' }));
  });
});
