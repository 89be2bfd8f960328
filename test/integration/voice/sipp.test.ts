/**
 * Speaks SIP as carriers do. The scenarios are tried against each other, and against LiveKit's SIP service where LIVEKIT_SIP_BIN names its
 * program: no release has one, and it is built with C libraries. Elsewhere that part is no test: docs/calls/phone-numbers.md.
 */
import { readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';

import { dispose } from '@livekit/rtc-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createRooms } from '../../../calls/rooms.ts';
import { roomOf } from '../../../calls/names.ts';
import type { SipSpec } from '../../../calls/sip/trunk-specs.ts';
import { createSipTrunks } from '../../../calls/sip/trunks.ts';
import { openFileStorage } from '../../../knowledge/storage/open-file-storage.ts';
import { newCallId, type CallRecord, type FinishReason } from '../../../store/index.ts';
import { runSipp, type Parties, type SippRun } from '../../sipp/run-sipp.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { decodeOgg } from '../../support/ogg.ts';
import { startProviderServer, type ProviderServer } from '../../support/provider-server.ts';
import { startSipMediaServer } from '../../support/sip-media-server.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { frequencyOf, heardFrequency } from '../../support/tones.ts';
import { aCall } from '../store/calls-support.ts';
import { openStage, type AgentWish, type VoiceStage } from './stage.ts';

const parties: Parties = { caller: '+15550199', callee: '+15550100', user: 'harbour', password: 'secret' };
const sipService = process.env['LIVEKIT_SIP_BIN'];

describe('the scenarios, one against the other', () => {
  it.concurrent.each([
    ['caller-talks.xml', 'called-talks.xml'],
    ['caller-presses.xml', 'called-talks.xml'],
    ['caller-echoes.xml', 'called-talks.xml'],
    ['caller-refused.xml', 'called-refuses.xml'],
    ['peers/gives-up.xml', 'called-silent.xml'],
    ['caller-logs-in.xml', 'called-asks-for-login.xml'],
    ['caller-hung-up-on.xml', 'called-hangs-up.xml'],
    ['caller-referred.xml', 'peers/refers.xml'],
  ])('%s and %s', async (caller, called) => {
    const port = await freePort();
    const hungUp = new AbortController();
    const waiting = runSipp({ scenario: called, port, parties, signal: hungUp.signal });
    // Linux shows what listens, and asking the port itself would be the call.
    await expect.poll(() => readFileSync('/proc/net/udp', 'utf8')).toContain(`:${port.toString(16).toUpperCase().padStart(4, '0')} `);
    const calling = runSipp({ scenario: caller, target: `127.0.0.1:${port}`, parties });
    calling.catch(() => hungUp.abort());
    const outcomes = await Promise.allSettled([waiting, calling]);
    expect(outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [String(outcome.reason)] : []))).toEqual([]);
  });
});

describe.each(sipService === undefined ? [] : [sipService])('through the SIP service %s', (program) => {
  afterAll(dispose);
  const media = suiteFixture(() => startSipMediaServer({ sipService: program }));
  let stage: VoiceStage;
  let carrierPort: number;
  const providers: ProviderServer[] = [];

  beforeAll(async () => {
    carrierPort = await freePort();
    stage = await openStage({}, { server: media });
  });
  afterAll(async () => {
    await stage?.close();
    await Promise.all(providers.map((provider) => provider.close()));
  });

  /** Makes a number with its trunks, and an agent that answers it. */
  async function connected({ login = false, agent = {} }: { readonly login?: boolean; readonly agent?: AgentWish } = {}): Promise<{
    readonly number: string;
    readonly revision: string;
    readonly provider: ProviderServer;
  }> {
    const number = `+1555${String(Math.floor(Math.random() * 9_000_000) + 1_000_000)}`;
    const trunks = createSipTrunks(media);
    const owner = { uid: `uid-${number}`, number, deletionPolicy: 'Retain' } as const;
    const account = login ? { login: { username: parties.user, password: parties.password } } : {};
    const inbound: SipSpec = { kind: 'inbound', name: number, number, addresses: [], ...account };
    const outbound: SipSpec = {
      kind: 'outbound',
      name: number,
      number,
      address: `127.0.0.1:${carrierPort}`,
      transport: 'udp',
      country: '',
      ...account,
    };
    const { id: trunk } = await trunks.create(inbound, owner);
    const { id: outboundTrunk } = await trunks.create(outbound, owner);
    await trunks.create({ kind: 'rule', name: number, trunk }, owner);
    const provider = await startProviderServer();
    providers.push(provider);
    provider.heard(() => 'hello');
    const { revision } = await stage.agent(
      { ...agent, spec: { welcomeMessage: 'Harbour Bikes.', call: { voicemailDetection: { mode: 'Never' } }, ...agent.spec } },
      provider,
    );
    await stage.store.agentReleases.serve({ org: stage.org, agentName: 'receptionist', revision });
    await stage.store.phoneRoutes.put({
      org: stage.org,
      ...owner,
      name: 'number',
      type: 'SIP',
      inboundAgent: 'receptionist',
      outboundAgent: 'receptionist',
      outboundTrunk,
    });
    return { number, revision, provider };
  }

  const recordOf = async (toNumber: string): Promise<CallRecord | undefined> =>
    (await stage.store.calls.list({ org: stage.org, filter: {}, direction: 'descending', pageSize: 100 })).items.find(
      (call) => call.toNumber === toNumber || call.fromNumber === toNumber,
    );
  const ended = (number: string): Promise<CallRecord> =>
    eventually(async () => {
      const record = await recordOf(number);
      if (record === undefined || record.endedAt === null) throw new Error(`the call of ${number} is not over`);
      return record;
    });
  const said = async ({ org, id }: CallRecord): Promise<readonly string[]> =>
    (await stage.store.calls.log.read({ org, id })).messages.map(({ role, content }) => `${role}: ${content}`);
  /** Calls a number as somebody. */
  const calls = (scenario: string, callee: string, more: Partial<SippRun> = {}): Promise<void> =>
    runSipp({ scenario, target: media.sip, parties: { ...parties, callee }, ...more });
  /** Starts a telephone that may be called through the trunks, for as long as the test lasts. */
  function phone(scenario: string, more: Partial<SippRun> = {}): { done: () => Promise<void>; [Symbol.asyncDispose]: () => Promise<void> } {
    const hungUp = new AbortController();
    const options = { scenario, port: carrierPort, parties, signal: hungUp.signal, ...more };
    const outcome = runSipp(options).then(
      () => undefined,
      (error: unknown) => error,
    );
    return {
      async done() {
        const error = await outcome;
        if (error !== undefined) throw error;
      },
      async [Symbol.asyncDispose]() {
        hungUp.abort();
        await outcome;
      },
    };
  }
  async function dial(number: string, revision: string): Promise<void> {
    const id = newCallId();
    await stage.store.calls.calls.register(
      aCall(stage.org, {
        id,
        room: roomOf(id),
        callType: 'phone_call',
        direction: 'outbound',
        fromNumber: number,
        toNumber: parties.caller,
        agentName: 'receptionist',
        revision,
        maxDurationMs: 5_000,
      }),
    );
    await createRooms(media).open(id);
  }
  const shortly = { spec: { call: { maxDuration: '5s', voicemailDetection: { mode: 'Never' } } } };

  it('what a caller presses on the keypad is a turn, and what the agent presses comes back from a telephone that echoes', async () => {
    const { number, provider } = await connected();
    provider.chat(({ lastUser, toolResults }) =>
      lastUser.includes('4711') && toolResults.length === 0
        ? { toolCalls: [{ name: 'send_digits', arguments: { digits: '42#' } }] }
        : `You pressed ${lastUser}.`,
    );
    await calls('caller-presses.xml', number, { talkMs: 4_000 });
    const record = await ended(number);
    await eventually(async () =>
      expect(await said(record)).toEqual(expect.arrayContaining(['user: [pressed 4711]', 'user: [pressed 42]'])),
    );
  });

  it.each([
    ['caller-talks.xml', false],
    ['caller-logs-in.xml', true],
  ])('a caller is answered, heard, and hangs up: %s', async (scenario, login) => {
    const { number, provider } = await connected({ login });
    provider.chat(() => 'Until six.');
    await calls(scenario, number, { talkMs: 12_000 });
    const record = await ended(number);
    expect(record).toMatchObject({ status: 'ended', finishReason: 'user_ended_call', fromNumber: parties.caller, toNumber: number });
    await eventually(async () =>
      expect((await said(record)).slice(0, 3)).toEqual(['agent: Harbour Bikes.', 'user: hello', 'agent: Until six.']),
    );
  });

  it('what the agent says is heard, and comes back from a telephone that echoes', async () => {
    const welcome = 'Harbour Bikes, the workshop by the water.';
    const { number } = await connected({ agent: { spec: { welcomeMessage: welcome } } });
    await calls('caller-echoes.xml', number);
    const { recording } = await eventually(async () => {
      const record = await recordOf(number);
      expect(record?.recording).toEqual(expect.anything());
      return record!;
    });
    const storage = openFileStorage({ url: stage.env['STORAGE_URL'] ?? '' });
    const { left, right, sampleRate } = await decodeOgg(await buffer(await storage.read(recording!.key)));
    const heard = (samples: Int16Array): number =>
      Array.from({ length: Math.floor((samples.length * 10) / sampleRate) }, (_, n) =>
        heardFrequency(samples.subarray((n * sampleRate) / 10, ((n + 1) * sampleRate) / 10), sampleRate),
      ).filter((frequency) => frequency === frequencyOf(welcome)).length;
    expect(Math.min(heard(left), heard(right))).toBeGreaterThan(5);
  });

  it('a caller with a wrong password is refused, and there is no call', async () => {
    const { number } = await connected({ login: true });
    const wrong = { ...parties, callee: number, password: 'guessed' };
    await expect(calls('caller-logs-in.xml', number, { parties: wrong })).rejects.toThrow(/unexpected/);
    expect(await recordOf(number)).toBeUndefined();
  });

  it('a caller too many hears that the line is busy', async () => {
    const { number } = await connected();
    await stage.store.organizations.limitLiveCalls(stage.org, 0);
    try {
      await calls('caller-refused.xml', number);
      expect((await ended(number)).finishReason).toBe('concurrent_call_limit_reached');
    } finally {
      await stage.store.organizations.limitLiveCalls(stage.org, 100);
    }
  });

  it('an agent hangs up on a caller', async () => {
    const { number } = await connected({ agent: shortly });
    await calls('caller-hung-up-on.xml', number);
    expect((await ended(number)).finishReason).toBe('maximum_duration_exceeded');
  });

  describe('a transfer', () => {
    const transferring = async (mode: 'Cold' | 'Warm') => {
      const spec = { type: 'TransferCall' as const, messages: {}, transferCall: { to: '+15550777', mode, callerID: 'Agent' as const } };
      const { number, provider } = await connected({
        agent: { tools: [{ name: 't', functionName: 'transfer_call', spec }] },
      });
      provider.chat(({ toolResults, messages, toolNames }) => {
        if (JSON.stringify(messages.at(-1)).includes('about to be handed')) return 'Ada asks for her bicycle.';
        if (toolResults.length > 0) return `Sorry: ${toolResults.at(-1)?.content}`;
        return toolNames.includes('transfer_call') ? { toolCalls: [{ name: 'transfer_call' }] } : 'Certainly.';
      });
      return number;
    };

    it('sends the caller on (REFER)', async () => {
      const number = await transferring('Cold');
      await calls('caller-referred.xml', number);
      expect((await ended(number)).finishReason).toBe('call_transferred');
    });

    it('connects the caller, until the other side hangs up', async () => {
      const number = await transferring('Warm');
      await using colleague = phone('called-hangs-up.xml', { talkMs: 15_000 });
      await calls('caller-hung-up-on.xml', number);
      await colleague.done();
      expect((await ended(number)).finishReason).toBe('call_transferred');
    });

    it('that the target does not answer brings the caller back', async () => {
      const number = await transferring('Warm');
      await using colleague = phone('called-refuses.xml');
      await calls('caller-talks.xml', number, { talkMs: 15_000 });
      await colleague.done();
      const record = await ended(number);
      expect(record.finishReason).toBe('user_ended_call');
      await eventually(async () => expect(await said(record)).toContainEqual(expect.stringContaining('+15550777 is busy')));
    });
  });

  it.each<[string, FinishReason, Partial<SippRun>?]>([
    ['called-talks.xml', 'maximum_duration_exceeded'],
    ['called-asks-for-login.xml', 'maximum_duration_exceeded'],
    ['called-hangs-up.xml', 'user_ended_call', { talkMs: 1_000 }],
    ['called-refuses.xml', 'line_busy', { status: '486 Busy Here' }],
    ['called-refuses.xml', 'line_busy', { status: '600 Busy Everywhere' }],
    ['called-refuses.xml', 'no_answer', { status: '480 Temporarily Unavailable' }],
    ['called-refuses.xml', 'no_answer', { status: '408 Request Timeout' }],
    ['called-refuses.xml', 'call_failed', { status: '404 Not Found' }],
    ['called-refuses.xml', 'call_failed', { status: '603 Decline' }],
    ['called-refuses.xml', 'carrier_error', { status: '403 Forbidden' }],
    ['called-refuses.xml', 'carrier_error', { status: '503 Service Unavailable' }],
    ['called-silent.xml', 'no_answer'],
  ])('somebody is called: %s is %s %o', async (scenario, finishReason, more = {}) => {
    const { number, revision } = await connected({ login: true, agent: shortly });
    await using called = phone(scenario, more);
    await dial(number, revision);
    expect((await ended(number)).finishReason).toBe(finishReason);
    await called.done();
  });

  it('the trunk does not answer: carrier_error', async () => {
    const { number, revision } = await connected({ agent: shortly });
    await dial(number, revision);
    expect((await ended(number)).finishReason).toBe('carrier_error');
  });
});
