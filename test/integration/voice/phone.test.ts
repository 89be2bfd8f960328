/** Tests calls by phone: participants of kind SIP in the rooms that a dispatch rule makes, and a scripted gateway. */
import { dispose, RoomEvent } from '@livekit/rtc-node';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { createRooms } from '../../../calls/rooms.ts';
import { roomOf } from '../../../calls/names.ts';
import type { RevisionTool } from '../../../crds/agent-revision.ts';
import { newCallId, newCommandId, type CallRecord, type CommandRecord } from '../../../store/index.ts';
import { eventually } from '../../support/eventually.ts';
import { startProviderServer, type ProviderServer } from '../../support/provider-server.ts';
import type { DialRequest, SipGatewayDouble } from '../../support/sip-gateway.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { now, type TestCaller } from '../../support/test-caller.ts';
import { aCall } from '../store/calls-support.ts';
import { openPhoneStage, ownNumber as own } from './phone-stage.ts';
import { sayOnce, type AgentWish } from './stage.ts';

const other = '+15550199';
const third = '+15550777';

let gateway: SipGatewayDouble;
afterAll(dispose);
const stage = suiteFixture(openPhoneStage);
const providers: ProviderServer[] = [];

beforeAll(async () => {
  ({ gateway } = stage);
});
afterAll(() => Promise.all(providers.map((provider) => provider.close())));

/** Takes the call as somebody. */
const answer = (request: DialRequest): Promise<TestCaller> => gateway.takes(request);

afterEach(() => {
  gateway.onDial = answer;
  gateway.onRefer = () => 'done';
  gateway.dialled.length = 0;
  gateway.referred.length = 0;
});

/** Puts an agent into service. @returns the provider that it listens, thinks and speaks with */
async function serving(wish: AgentWish = {}): Promise<{ readonly provider: ProviderServer; readonly revision: string }> {
  const provider = await startProviderServer();
  providers.push(provider);
  const { revision } = await stage.agent({ ...wish, spec: { welcomeMessage: 'Harbour Bikes.', ...wish.spec } }, provider);
  await stage.store.agentReleases.serve({ org: stage.org, agentName: 'receptionist', revision });
  return { provider, revision };
}

const calls = async (): Promise<readonly CallRecord[]> =>
  (await stage.store.calls.list({ org: stage.org, filter: {}, direction: 'descending', pageSize: 100 })).items;
const callIn = async (roomName: string): Promise<CallRecord | undefined> => (await calls()).find(({ room }) => room === roomName);

/** Waits until the call looks like this. */
const becomes = (find: () => Promise<CallRecord | undefined>, expected: Partial<CallRecord>): Promise<CallRecord> =>
  eventually(async () => {
    const call = await find();
    expect(call, stage.role.output().slice(-3000)).toMatchObject(expected);
    return call!;
  });

const says = (caller: TestCaller | undefined, provider: ProviderServer, text = 'hello', ms?: number): Promise<void> =>
  sayOnce({ caller: caller!, servers: [provider], text, ms });

/** A moment in which one tone ends and another begins may look like a third. */
const hearsNothingOf = (caller: TestCaller, text: string): void => expect(caller.heardFor(text)).toBeLessThan(500);

const isOut = (caller: TestCaller): Promise<void> => eventually(() => expect(caller.room.isConnected).toBe(false));

/** Begins a call as the REST API does. */
async function goesOut(
  revision: string,
  change: Partial<Parameters<typeof aCall>[1]> = {},
): Promise<() => Promise<CallRecord | undefined>> {
  const id = newCallId();
  const registration = await stage.store.calls.calls.register(
    aCall(stage.org, {
      id,
      room: roomOf(id),
      callType: 'phone_call',
      direction: 'outbound',
      fromNumber: own,
      toNumber: other,
      agentName: 'receptionist',
      revision,
      ...change,
    }),
  );
  expect(registration.outcome).toBe('registered');
  await createRooms(gateway.server).open(id);
  return () => stage.store.calls.calls.get({ org: stage.org, id });
}

describe('a call that comes in', () => {
  it('is written down when it comes, answered by the agent of its number, and over when the caller hangs up', async () => {
    const { provider, revision } = await serving();
    provider.chat(() => 'Certainly.');
    const caller = await gateway.comesIn({ from: other, to: own, sipCallId: 'abc@carrier' });
    const record = await becomes(() => callIn(caller.roomName), { status: 'ongoing' });
    expect(record).toMatchObject({
      callType: 'phone_call',
      direction: 'inbound',
      fromNumber: other,
      toNumber: own,
      sipCallId: 'abc@carrier',
      agentName: 'receptionist',
      revision,
      dynamicData: { from_number: other, to_number: own },
    });
    await caller.hears('Harbour Bikes.');
    await says(caller, provider);
    await caller.hears('Certainly.');
    await caller.leave();
    await becomes(() => callIn(caller.roomName), { status: 'ended', finishReason: 'user_ended_call' });
  });

  it('is understood by the keypad too, and the agent has one', async () => {
    const { provider } = await serving();
    const heard: string[] = [];
    provider.speech(({ input }) => (input === 'Harbour Bikes.' ? { msPerCharacter: 1_000 } : {}));
    provider.chat(({ lastUser, toolResults }) => {
      const done = toolResults.length > 0;
      if (lastUser !== '[pressed 2]') return done ? 'Done.' : { toolCalls: [{ name: 'send_digits', arguments: { digits: '1w*' } }] };
      return done ? 'Thank you.' : { text: 'Your number please.', toolCalls: [{ name: 'collect_digits', arguments: { count: 4 } }] };
    });
    const caller = await gateway.comesIn({ from: other, to: own, sipCallId: 'keypad@carrier' });
    caller.room.on(RoomEvent.DtmfReceived, (_code: number, digit: string) => heard.push(digit));
    const press = async (keys: string): Promise<void> => {
      for (const key of keys) await caller.room.localParticipant!.publishDtmf('0123456789*#'.indexOf(key), key);
    };
    await becomes(() => callIn(caller.roomName), { status: 'ongoing' });
    await caller.hears('Harbour Bikes.');
    await press('2#');
    await caller.hears('Your number please.');
    await eventually(() => expect(provider.requests('chat').at(-1)).toMatchObject({ lastUser: '[pressed 2]' }));
    await press('471199');
    await caller.hears('Thank you.');
    const results = provider.requests('chat').flatMap(({ toolResults }) => toolResults.map(({ content }) => content));
    expect(results).toContainEqual(expect.stringContaining('4711'));
    // The keys that the tool has left over are a turn once nothing more is pressed.
    await caller.hears('Done.');
    await eventually(() => expect(heard).toEqual(['1', '*']));
    await caller.leave();
    const { id, org } = await becomes(() => callIn(caller.roomName), { status: 'ended' });
    const log = await stage.store.calls.log.read({ org, id });
    expect(log.messages.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual(['[pressed 2]', '[pressed 99]']);
    expect(log.toolCalls.map(({ name, arguments: given }) => [name, given])).toEqual([
      ['collect_digits', { count: 4 }],
      ['send_digits', { digits: '1w*' }],
    ]);
  });

  it('is understood by the keypad after the user has interrupted the question for the keys', async () => {
    const question = 'Please enter your number.';
    const { provider } = await serving();
    provider.speech(({ input }) => (input === question ? { msPerCharacter: 1_000 } : {}));
    provider.chat(({ lastUser }) => {
      if (lastUser.startsWith('[pressed')) return 'Thank you.';
      return lastUser.includes('hold on') ? 'Take your time.' : { text: question, toolCalls: [{ name: 'collect_digits' }] };
    });
    const caller = await gateway.comesIn({ from: other, to: own });
    await caller.hears('Harbour Bikes.');
    await says(caller, provider);
    await caller.hears(question);
    await says(caller, provider, 'hold on', 1_500);
    await caller.hears('Take your time.');
    for (const key of '4711#') await caller.room.localParticipant!.publishDtmf('0123456789*#'.indexOf(key), key);
    await caller.hears('Thank you.');
    const { lastUser, messages } = provider.requests('chat').at(-1)!;
    expect(lastUser).toBe('[pressed 4711]');
    expect(messages.filter(({ role }) => role === 'tool')).toMatchObject([{ content: expect.stringContaining('pressed no key') }]);
    await caller.leave();
    await becomes(() => callIn(caller.roomName), { status: 'ended', finishReason: 'user_ended_call' });
  });

  it('is one call, however often the gateway reports it', async () => {
    await serving();
    const first = await gateway.comesIn({ from: other, to: own, sipCallId: 'twice@carrier' });
    await becomes(() => callIn(first.roomName), { status: 'ongoing' });
    const second = await gateway.comesIn({ from: other, to: own, sipCallId: 'twice@carrier' });
    await isOut(second);
    expect((await calls()).filter(({ sipCallId }) => sipCallId === 'twice@carrier')).toHaveLength(1);
    expect((await callIn(first.roomName))?.status).toBe('ongoing');
    await first.leave();
  });

  it('is turned away before anything is heard where there are too many, and that is written down', async () => {
    await serving();
    await stage.store.organizations.limitLiveCalls(stage.org, 0);
    try {
      const caller = await gateway.comesIn({ from: other, to: own });
      await isOut(caller);
      const record = await becomes(() => callIn(caller.roomName), { status: 'error', finishReason: 'concurrent_call_limit_reached' });
      expect(record.startedAt).toBeNull();
      expect(caller.heard).toEqual([]);
    } finally {
      await stage.store.organizations.limitLiveCalls(stage.org, 100);
    }
  });

  it('is refused where a value that the agent requires is missing, but not where it looks that up itself', async () => {
    const requiring = (names: readonly string[]) => ({ requiredDynamicData: [...names] });
    await serving({ spec: requiring(['customer_name']) });
    const refused = await gateway.comesIn({ from: other, to: own });
    await isOut(refused);
    const record = await becomes(() => callIn(refused.roomName), { status: 'error', finishReason: 'call_failed' });
    expect(record.startedAt).toBeNull();

    // Every call by phone knows its numbers.
    await serving({ spec: requiring(['from_number']) });
    const taken = await gateway.comesIn({ from: other, to: own });
    await becomes(() => callIn(taken.roomName), { status: 'ongoing' });
    await taken.leave();
  });

  it('for a number without an agent is refused', async () => {
    const before = (await calls()).length;
    const caller = await gateway.comesIn({ from: other, to: '+15559999999' });
    await isOut(caller);
    expect(await calls()).toHaveLength(before);
  });
});

describe('a call that goes out', () => {
  it('rings when everything is ready, begins when it is answered, and speaks first', async () => {
    const { provider, revision } = await serving();
    provider.chat(() => 'Certainly.');
    const answered = Promise.withResolvers<void>();
    let phone: TestCaller | undefined;
    gateway.onDial = async (request) => {
      phone = await answer(request);
      await answered.promise;
      return phone;
    };
    const find = await goesOut(revision);
    await eventually(() => expect(gateway.dialled).toHaveLength(1));
    const record = (await find())!;
    expect(gateway.dialled[0]).toMatchObject({
      sipTrunkId: 'ST_own',
      sipNumber: own,
      sipCallTo: other,
      roomName: record.room,
      waitUntilAnswered: true,
    });
    await eventually(() => expect(phone).toBeDefined());
    // The phone rings: the line is open in the room, and the callee has not answered. A call from a browser has begun meanwhile.
    await (await stage.joined()).becomes({ status: 'ongoing' });
    expect((await find())?.status).toBe('registered');
    expect(phone?.tones()).toEqual([]);
    answered.resolve();
    await becomes(find, { status: 'ongoing', sipCallId: 'SCL_x' });
    await phone?.hears('Harbour Bikes.');
    await says(phone, provider);
    await phone?.hears('Certainly.');
    await phone?.leave();
    await becomes(find, { status: 'ended', finishReason: 'user_ended_call' });
  });

  it.each([
    [486, 'line_busy', 'ended'],
    [480, 'no_answer', 'ended'],
    [404, 'call_failed', 'error'],
    [503, 'carrier_error', 'error'],
  ] as const)('is over when the network says %s: %s', async (status, finishReason, callStatus) => {
    const { revision } = await serving();
    gateway.onDial = () => ({ status });
    const record = await becomes(await goesOut(revision), { status: callStatus, finishReason });
    expect(record.startedAt).toBeNull();
    await eventually(async () => expect(await gateway.participants(record.room)).toEqual([]));
  });

  it('is over when the callee hangs up at the moment of the answer', async () => {
    const { revision } = await serving();
    gateway.onDial = async (request) => {
      const phone = await answer(request);
      await eventually(async () => expect(await gateway.participants(request.roomName)).toHaveLength(2));
      await phone.leave();
      await eventually(async () => expect(await gateway.participants(request.roomName)).toHaveLength(1));
      return phone;
    };
    await becomes(await goesOut(revision), { status: 'ended', finishReason: 'user_ended_call' });
  });

  it('is over at once where there is no gateway, or the number has lost its trunk', async () => {
    const { revision } = await serving();
    gateway.onDial = () => 'no_gateway';
    const record = await becomes(await goesOut(revision), { status: 'error', finishReason: 'carrier_error' });
    expect(record.startedAt).toBeNull();
    await becomes(await goesOut(revision, { fromNumber: '+15558888888' }), { status: 'error', finishReason: 'carrier_error' });
  });

  it('is not dialled through a trunk that leads inside, wherever it has led before', async () => {
    const { revision } = await serving();
    const before = gateway.trunkAddress;
    gateway.trunkAddress = '169.254.169.254:5060';
    try {
      await becomes(await goesOut(revision), { status: 'error', finishReason: 'carrier_error' });
      expect(gateway.dialled).toEqual([]);
    } finally {
      gateway.trunkAddress = before;
    }
  });

  it('is over when a tape answers, and talked on with a person or a menu', async () => {
    const { provider, revision } = await serving({ spec: { call: { voicemailDetection: { timeout: '20s' } } } });
    let verdict = 'voicemail';
    provider.chat(({ system }) => (system.includes('who or what has answered') ? verdict : 'Certainly.'));
    let phone: TestCaller | undefined;
    gateway.onDial = async (request) => (phone = await answer(request));
    const find = await goesOut(revision);
    await becomes(find, { status: 'ongoing' });
    await says(phone, provider, 'You have reached the voicemail of Ada. Please leave a message after the tone.', 4_000);
    await becomes(find, { status: 'ended', finishReason: 'no_answer' });
    await isOut(phone!);
    // The tape has nothing.
    expect(phone?.tones()).toEqual([]);

    for (verdict of ['human', 'menu']) {
      const again = await goesOut(revision);
      await becomes(again, { status: 'ongoing' });
      await says(phone, provider, 'Who is calling?', 1_000);
      await phone?.hears('Certainly.');
      await phone?.leave();
      await becomes(again, { status: 'ended', finishReason: 'user_ended_call' });
    }
  });

  it('leaves a message to a tape, once it is silent, and none where nobody takes one', async () => {
    const voicemailDetection = { timeout: '20s', message: 'Call us back, {{customer}}.' };
    const { provider, revision } = await serving({ spec: { call: { voicemailDetection } } });
    let verdict = 'voicemail';
    provider.chat(({ system }) => (system.includes('who or what has answered') ? verdict : 'Certainly.'));
    let phone: TestCaller | undefined;
    gateway.onDial = async (request) => (phone = await answer(request));
    const find = await goesOut(revision, { dynamicData: { customer: 'Ada' } });
    await becomes(find, { status: 'ongoing' });
    await says(phone, provider, 'You have reached the voicemail of Ada. Please leave a message after the tone.', 4_000);
    await phone?.hears('Call us back, Ada.');
    const { id } = await becomes(find, { status: 'ended', finishReason: 'no_answer' });
    await isOut(phone!);
    hearsNothingOf(phone!, 'Harbour Bikes.');
    const { messages } = await stage.store.calls.log.read({ org: stage.org, id });
    expect(messages.at(-1)).toMatchObject({ role: 'agent', content: 'Call us back, Ada.' });

    verdict = 'unavailable';
    const again = await goesOut(revision, { dynamicData: { customer: 'Ada' } });
    await becomes(again, { status: 'ongoing' });
    await says(phone, provider, 'The mailbox of the person that you have called is full. Goodbye.', 4_000);
    await becomes(again, { status: 'ended', finishReason: 'no_answer' });
    expect(phone?.tones()).toEqual([]);
  });

  it('is talked on with a tape, too, where the agent does not listen for one', async () => {
    const { provider, revision } = await serving({ spec: { call: { voicemailDetection: { mode: 'Never' } } } });
    provider.chat(({ system }) => (system.includes('who or what has answered') ? 'voicemail' : 'Certainly.'));
    let phone: TestCaller | undefined;
    gateway.onDial = async (request) => (phone = await answer(request));
    const find = await goesOut(revision);
    await becomes(find, { status: 'ongoing' });
    await says(phone, provider, 'You have reached the voicemail of Ada. Please leave a message after the tone.', 4_000);
    await phone?.hears('Certainly.');
    await phone?.leave();
    expect(await becomes(find, { status: 'ended' })).toMatchObject({ finishReason: 'user_ended_call' });
  });
});

describe('a transfer', () => {
  const tool = (mode: 'Cold' | 'Warm', callerID: 'Agent' | 'Caller' = 'Agent', to = third): RevisionTool => ({
    name: 'to-the-workshop',
    functionName: 'transfer_call',
    spec: { type: 'TransferCall', messages: {}, transferCall: { to, mode, callerID } },
  });

  /** Returns an agent that transfers when it is spoken to, and says what came of it. */
  async function transferring(mode: 'Cold' | 'Warm', callerID: 'Agent' | 'Caller' = 'Agent', to = third): Promise<ProviderServer> {
    const { provider } = await serving({ tools: [tool(mode, callerID, to)] });
    provider.chat(({ toolResults, messages, toolNames }) => {
      if (JSON.stringify(messages.at(-1)).includes('about to be handed')) return 'Ada asks for her bicycle.';
      const result = toolResults.at(-1)?.content;
      if (result !== undefined) return `Sorry: ${result}`;
      return toolNames.includes('transfer_call') ? { toolCalls: [{ name: 'transfer_call' }] } : 'Certainly.';
    });
    return provider;
  }

  const events = async (call: CallRecord): Promise<readonly string[]> => {
    const { rows } = await stage.store.database.asOrganization(call.org, (transaction) =>
      transaction.query<{ readonly name: string }>(
        "SELECT e.name FROM parley.events e JOIN parley.event_bodies b ON b.id = e.id WHERE e.org = $1 AND strpos(convert_from(b.body, 'UTF8'), $2) > 0 ORDER BY e.id",
        [call.org, call.id],
      ),
    );
    return rows.map(({ name }) => name);
  };

  it('sends the caller on, and the call is over', async () => {
    const provider = await transferring('Cold');
    const caller = await gateway.comesIn({ from: other, to: own });
    gateway.onRefer = async (): Promise<'done'> => {
      // The gateway hangs up as soon as the network has taken the caller over.
      await caller.leave();
      await eventually(async () => expect(await gateway.participants(caller.roomName)).toHaveLength(1));
      return 'done';
    };
    await caller.hears('Harbour Bikes.');
    await says(caller, provider);
    const record = await becomes(() => callIn(caller.roomName), { status: 'ended', finishReason: 'call_transferred' });
    expect(gateway.referred).toMatchObject([{ participantIdentity: `sip_${other}`, transferTo: `tel:${third}`, roomName: record.room }]);
    expect((await events(record)).filter((name) => name !== 'CallHandler.RecordingReady')).toEqual([
      'CallHandler.CallStarted',
      'CallHandler.CallTransferred',
      'CallHandler.CallEnded',
    ]);
  });

  it('that is refused is reported to the model, and the call goes on', async () => {
    const provider = await transferring('Cold');
    gateway.onRefer = () => ({ status: 603 });
    const caller = await gateway.comesIn({ from: other, to: own });
    await caller.hears('Harbour Bikes.');
    await says(caller, provider);
    await eventually(() => {
      const bodies = provider.requests('chat').flatMap(({ body }) => JSON.stringify(body));
      expect(bodies.some((body) => body.includes('was not accepted (SIP 603)'))).toBe(true);
    });
    expect((await callIn(caller.roomName))?.status).toBe('ongoing');
    await caller.leave();
    await becomes(() => callIn(caller.roomName), { status: 'ended', finishReason: 'user_ended_call' });
  });

  it('is made for a supervisor, who learns why one was refused, while the call goes on', async () => {
    await serving();
    const caller = await gateway.comesIn({ from: other, to: own });
    await caller.hears('Harbour Bikes.');
    const call = await becomes(() => callIn(caller.roomName), { status: 'ongoing' });
    const { commands } = stage.store.calls;
    const transfer = async (): Promise<CommandRecord | undefined> => {
      const ref = { org: call.org, callId: call.id, id: newCommandId() };
      const body = { to: third, mode: 'cold' };
      await commands.add({ ...ref, kind: 'transfer', body, createdBy: 'ada', createdByKey: 'key' });
      // As the api does.
      await createRooms(gateway.server).control(call.room);
      return eventually(async () => {
        const command = await commands.get(ref);
        expect(command?.finishedAt).not.toBeNull();
        return command;
      });
    };
    gateway.onRefer = () => ({ status: 603 });
    expect(await transfer()).toMatchObject({ status: 'refused', reason: expect.stringContaining('SIP 603') });
    expect((await callIn(caller.roomName))?.status).toBe('ongoing');
    gateway.onRefer = () => 'done';
    expect(await transfer()).toMatchObject({ status: 'done', reason: null });
    await becomes(() => callIn(caller.roomName), { status: 'ended', finishReason: 'call_transferred' });
    expect(gateway.referred.map(({ transferTo }) => transferTo)).toEqual([`tel:${third}`, `tel:${third}`]);
  });

  it('to a SIP address inside is not asked for, and the call goes on', async () => {
    const provider = await transferring('Cold', 'Agent', 'sip:desk@169.254.169.254');
    const caller = await gateway.comesIn({ from: other, to: own });
    await caller.hears('Harbour Bikes.');
    await says(caller, provider);
    await eventually(() => {
      const bodies = provider.requests('chat').flatMap(({ body }) => JSON.stringify(body));
      expect(bodies.some((body) => body.includes('was not accepted'))).toBe(true);
    });
    expect(gateway.referred).toEqual([]);
    expect((await callIn(caller.roomName))?.status).toBe('ongoing');
    await caller.leave();
    await becomes(() => callIn(caller.roomName), { status: 'ended', finishReason: 'user_ended_call' });
  });

  it('after a word with the other side connects the two, and leaves them alone until one hangs up', async () => {
    const provider = await transferring('Warm');
    let colleague: TestCaller | undefined;
    gateway.onDial = async (request) => (colleague = await answer(request));
    const caller = await gateway.comesIn({ from: other, to: own });
    await caller.hears('Harbour Bikes.');
    await says(caller, provider);
    await eventually(() => expect(colleague).toBeDefined());
    expect(gateway.dialled).toMatchObject([{ sipTrunkId: 'ST_own', sipNumber: own, sipCallTo: third, roomName: caller.roomName }]);
    await colleague?.hears('Ada asks for her bicycle.');
    const record = await becomes(() => callIn(caller.roomName), { status: 'ended', finishReason: 'call_transferred' });
    // The caller was on hold meanwhile.
    hearsNothingOf(caller, 'Ada asks for her bicycle.');

    // Each hears the other, and there is no other participant.
    const quiet = now();
    await caller.speak(2_000);
    await eventually(() => expect(colleague?.loudnessOf('microphone', quiet)).toBeGreaterThan(0.01));
    const answered = now();
    await colleague?.speak(2_000);
    await eventually(() => expect(caller.loudnessOf('microphone', answered)).toBeGreaterThan(0.01));
    expect(await gateway.participants(record.room)).toEqual(expect.arrayContaining([`sip_${other}`, `transfer-${record.id}`]));
    await colleague?.leave();
    await isOut(caller);
  });

  it('that the target does not answer brings the caller back', async () => {
    const provider = await transferring('Warm', 'Caller');
    gateway.onDial = () => ({ status: 486 });
    const caller = await gateway.comesIn({ from: other, to: own });
    await caller.hears('Harbour Bikes.');
    await says(caller, provider);
    await eventually(() =>
      expect(provider.requests('chat').some(({ body }) => JSON.stringify(body).includes(`${third} is busy`))).toBe(true),
    );
    // The other side was to see who calls.
    expect(gateway.dialled).toMatchObject([{ sipNumber: other }]);
    await eventually(() => expect(caller.tones().length).toBeGreaterThan(1));
    await caller.leave();
    await becomes(() => callIn(caller.roomName), { status: 'ended', finishReason: 'user_ended_call' });
  });

  it('that the target does not answer is reported, also where the caller pressed keys on hold', async () => {
    const provider = await transferring('Warm');
    const ringing = Promise.withResolvers<void>();
    gateway.onDial = async (request) => {
      const colleague = await answer(request);
      const pressed = Promise.withResolvers<void>();
      // Everybody in the room gets the keys.
      colleague.room.on(RoomEvent.DtmfReceived, (_code: number, key: string) => key === '#' && pressed.resolve());
      ringing.resolve();
      await pressed.promise;
      await colleague.leave();
      return { status: 486 };
    };
    const caller = await gateway.comesIn({ from: other, to: own });
    await caller.hears('Harbour Bikes.');
    await says(caller, provider);
    await ringing.promise;
    for (const key of '12#') await caller.room.localParticipant!.publishDtmf('0123456789*#'.indexOf(key), key);
    await eventually(() => expect(provider.requests('chat').at(-1)?.toolResults.at(-1)?.content).toContain('is busy'));
    await eventually(() => expect(caller.tones().length).toBeGreaterThan(1));
    await caller.leave();
    const { org, id } = await becomes(() => callIn(caller.roomName), { status: 'ended' });
    expect((await stage.store.calls.log.read({ org, id })).messages.map(({ content }) => content)).not.toContain('[pressed 12]');
  });

  it.each(['at once', 'before the briefing is ready', 'during the briefing'])(
    'whose target hangs up %s brings the caller back, who hears none of it',
    async (when) => {
      const { provider } = await serving({ tools: [tool('Warm')] });
      const [briefing, apology] = ['Ada asks for her bicycle.', 'Nobody is there.'];
      const ready = Promise.withResolvers<void>();
      if (when !== 'before the briefing is ready') ready.resolve();
      provider.speech(({ input }) => ([briefing, apology].includes(input) ? { msPerCharacter: 500 } : {}));
      provider.chat(({ messages, toolResults }) => {
        if (JSON.stringify(messages.at(-1)).includes('about to be handed')) return { text: briefing, holdHead: ready.promise };
        if (toolResults.length > 0) return apology;
        return messages.some(({ role }) => role === 'tool') ? 'Certainly.' : { toolCalls: [{ name: 'transfer_call' }] };
      });
      const caller = await gateway.comesIn({ from: other, to: own });
      const inRoom = (identity: string): boolean => [...caller.room.remoteParticipants.values()].some((each) => each.identity === identity);
      const dialled = Promise.withResolvers<TestCaller>();
      gateway.onDial = async (request) => {
        const colleague = await answer(request);
        // The agent would never learn of a participant who leaves before the others know of it.
        await eventually(() => expect(inRoom(request.participantIdentity)).toBe(true));
        if (when === 'at once') {
          await colleague.leave();
          await eventually(() => expect(inRoom(request.participantIdentity)).toBe(false));
        }
        dialled.resolve(colleague);
        return colleague;
      };
      await caller.hears('Harbour Bikes.');
      await says(caller, provider);
      const colleague = await dialled.promise;
      if (when === 'during the briefing')
        await eventually(() => expect(colleague.heardFor(briefing)).toBeGreaterThan(apology.length * 500));
      await colleague.leave();
      await caller.hears(apology);
      ready.resolve();
      await says(caller, provider);
      await caller.hears('Certainly.');
      hearsNothingOf(caller, briefing);
      await caller.leave();
      const { org, id } = await becomes(() => callIn(caller.roomName), { status: 'ended', finishReason: 'user_ended_call' });
      // The message was interrupted: what the target has heard doesn't count for it.
      const { messages } = await stage.store.calls.log.read({ org, id });
      expect(messages.map(({ content }) => content)).not.toContain(apology);
    },
  );

  /** Brings a warm transfer to the point where the target is being told what it is about, which takes a while. */
  async function midBriefing() {
    const provider = await transferring('Warm');
    const text = 'Ada asks for her bicycle.';
    provider.speech(({ input }) => (input === text ? { msPerCharacter: 500 } : {}));
    const dialled = Promise.withResolvers<TestCaller>();
    gateway.onDial = async (request) => {
      const colleague = await answer(request);
      dialled.resolve(colleague);
      return colleague;
    };
    const caller = await gateway.comesIn({ from: other, to: own });
    await caller.hears('Harbour Bikes.');
    await says(caller, provider);
    const colleague = await dialled.promise;
    await eventually(() => expect(colleague.heardFor(text)).toBeGreaterThan(1_000));
    return { caller, colleague };
  }

  it('whose caller hangs up during the briefing is over, and the record says who has left', async () => {
    const { caller } = await midBriefing();
    await caller.leave();
    const { org, id } = await becomes(() => callIn(caller.roomName), { status: 'ended', finishReason: 'user_ended_call' });
    const { toolCalls } = await stage.store.calls.log.read({ org, id });
    expect(toolCalls).toMatchObject([{ name: 'transfer_call', failed: true, result: expect.stringContaining('The caller has left.') }]);
  });

  it('is given up when the API is asked to end the call', async () => {
    const { caller, colleague } = await midBriefing();
    expect(await createRooms(gateway.server).end(caller.roomName)).toBe(true);
    await Promise.all([isOut(caller), isOut(colleague)]);
    await becomes(() => callIn(caller.roomName), { status: 'ended', finishReason: 'agent_ended_call' });
  });

  it('is not for calls from a browser', async () => {
    const call = await stage.joined({ spec: { welcomeMessage: 'Hello.' }, tools: [tool('Cold')] });
    call.provider.chat(({ toolResults }) =>
      toolResults.length > 0 ? `Sorry: ${toolResults[0]!.content}` : { toolCalls: [{ name: 'transfer_call' }] },
    );
    await call.caller.hears('Hello.');
    await call.says('hello');
    await eventually(() =>
      expect(call.provider.requests('chat').some(({ body }) => JSON.stringify(body).includes("can't be transferred"))).toBe(true),
    );
    expect(gateway.referred).toEqual([]);
    await call.caller.leave();
  });
});
