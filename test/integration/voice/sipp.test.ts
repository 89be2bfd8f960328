/**
 * SIP as carriers speak it. The scenarios are tried against each other wherever sipp is on PATH; against LiveKit's SIP service where
 * LIVEKIT_SIP_BIN names its program, too. Elsewhere nothing of this is proven: docs/calls/phone-numbers.md.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { dispose } from '@livekit/rtc-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';

import { createCallRooms } from '../../../calls/call-rooms.ts';
import { roomOf } from '../../../calls/names.ts';
import { createSipTrunks, type SipSpec } from '../../../calls/sip/trunks.ts';
import { newCallId, type CallRecord } from '../../../store/index.ts';
import { hasSipp, runSipp, type Parties } from '../../sipp/run-sipp.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { startProviderServer, type ProviderServer } from '../../support/provider-server.ts';
import { startSipMediaServer, type SipMediaServer } from '../../support/sip-media-server.ts';
import { aCall } from '../store/calls-support.ts';
import { openStage, type AgentWish, type Stage } from './stage.ts';

const parties: Parties = { caller: '+15550199', callee: '+15550100', user: 'harbour', password: 'secret' };
const sipp = await hasSipp();
const gatewayProgram = process.env['LIVEKIT_SIP_BIN'];

/** Even, with the next one free as a rule. */
const mediaPort = async (): Promise<number> => (await freePort()) & ~1;

describe.skipIf(!sipp)('the scenarios, one against the other', () => {
  it.each([
    ['caller-talks.xml', 'called-talks.xml'],
    ['caller-refused.xml', 'called-486.xml'],
    ['peers/hears-480.xml', 'called-480.xml'],
    ['peers/gives-up.xml', 'called-silent.xml'],
    ['caller-logs-in.xml', 'called-asks-for-login.xml'],
    ['caller-hung-up-on.xml', 'peers/hangs-up.xml'],
    ['caller-referred.xml', 'peers/refers.xml'],
  ])('%s and %s', async (caller, called) => {
    const port = await freePort();
    const waiting = runSipp({ scenario: called, port, mediaPort: await mediaPort(), parties });
    await delay(500);
    const calling = runSipp({
      scenario: caller,
      port: await freePort(),
      mediaPort: await mediaPort(),
      target: `127.0.0.1:${port}`,
      parties,
    });
    expect(
      (await Promise.allSettled([waiting, calling])).map((outcome) => (outcome.status === 'rejected' ? String(outcome.reason) : 'well')),
    ).toEqual(['well', 'well']);
  });
});

describe.skipIf(!sipp || gatewayProgram === undefined)('through the SIP service', () => {
  let media: SipMediaServer;
  let service: ChildProcess;
  let stage: Stage;
  let folder: string;
  let gateway: string;
  let carrierPort: number;
  const providers: ProviderServer[] = [];

  beforeAll(async () => {
    media = await startSipMediaServer();
    folder = await mkdtemp(join(tmpdir(), 'parley-sip-service-'));
    const port = await freePort();
    carrierPort = await freePort();
    gateway = `127.0.0.1:${port}`;
    const rtp = await mediaPort();
    const config = {
      api_key: media.apiKey,
      api_secret: media.apiSecret,
      ws_url: media.url,
      redis: { address: media.redis },
      sip_port: port,
      rtp_port: `${rtp}-${rtp + 200}`,
      listen_ip: '127.0.0.1',
      local_net: '127.0.0.0/8',
      logging: { level: 'info' },
    };
    await writeFile(join(folder, 'sip.yaml'), stringify(config), { mode: 0o600 });
    service = spawn(gatewayProgram ?? '', ['--config', join(folder, 'sip.yaml')], { stdio: 'inherit' });
    stage = await openStage({}, { server: media });
  }, 300_000);
  afterAll(async () => {
    await stage?.close();
    await Promise.all(providers.map((provider) => provider.close()));
    if (service !== undefined && service.exitCode === null) {
      service.kill('SIGTERM');
      await once(service, 'exit');
    }
    await media?.stop();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
    await dispose();
  });

  /** A number with its trunks, and an agent that answers it. */
  async function connected({ login = false, agent = {} }: { readonly login?: boolean; readonly agent?: AgentWish } = {}): Promise<{
    readonly number: string;
    readonly revision: string;
    readonly provider: ProviderServer;
  }> {
    const number = `+1555${String(Math.floor(Math.random() * 9_000_000) + 1_000_000)}`;
    const trunks = createSipTrunks(media);
    const owner = { uid: `uid-${number}`, number };
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
      { ...agent, spec: { welcomeMessage: 'Harbour Bikes.', call: { voicemailDetectionTimeout: '0s' }, ...agent.spec } },
      provider,
    );
    await stage.store.agentRevisions.serve({ org: stage.org, agentUid: 'uid-receptionist', revision });
    await stage.store.phoneRoutes.put({
      org: stage.org,
      ...owner,
      name: 'number',
      provider: 'sip',
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
  const calls = async (scenario: string, callee: string): Promise<void> =>
    runSipp({ scenario, port: await freePort(), mediaPort: await mediaPort(), target: gateway, parties: { ...parties, callee } });

  it.each([
    ['caller-talks.xml', false],
    ['caller-logs-in.xml', true],
  ])('a caller is answered and hangs up: %s', async (scenario, login) => {
    const { number } = await connected({ login });
    await calls(scenario, number);
    await eventually(async () => expect(await recordOf(number)).toMatchObject({ status: 'ended', finishReason: 'user_ended_call' }));
  });

  it('a caller too many hears that the line is busy', async () => {
    const { number } = await connected();
    await stage.store.organizations.limitLiveCalls(stage.org, 0);
    try {
      await calls('caller-refused.xml', number);
      await eventually(async () => expect((await recordOf(number))?.finishReason).toBe('concurrent_call_limit_reached'));
    } finally {
      await stage.store.organizations.limitLiveCalls(stage.org, 100);
    }
  });

  it('an agent hangs up on a caller', async () => {
    const { number } = await connected({ agent: { spec: { call: { maxDuration: '5s', voicemailDetectionTimeout: '0s' } } } });
    await calls('caller-hung-up-on.xml', number);
    await eventually(async () => expect((await recordOf(number))?.finishReason).toBe('maximum_duration_exceeded'));
  });

  it('a caller is sent on', async () => {
    const transfer = { name: 't', type: 'transferCall', functionName: 'transfer_call' };
    const spec = { messages: {}, transferCall: { to: '+15550777', mode: 'Cold' as const, showCallerNumber: false } };
    const { number, provider } = await connected({ agent: { tools: [{ ...transfer, spec }] } });
    provider.chat(({ toolResults }) => (toolResults.length > 0 ? 'Sorry.' : { toolCalls: [{ name: 'transfer_call' }] }));
    await calls('caller-referred.xml', number);
    await eventually(async () => expect((await recordOf(number))?.finishReason).toBe('call_transferred'));
  });

  it.each([
    ['called-talks.xml', 'maximum_duration_exceeded'],
    ['called-asks-for-login.xml', 'maximum_duration_exceeded'],
    ['called-486.xml', 'line_busy'],
    ['called-480.xml', 'no_answer'],
    ['called-silent.xml', 'no_answer'],
  ])('somebody is called: %s is %s', async (scenario, finishReason) => {
    const { number, revision } = await connected({
      login: true,
      agent: { spec: { call: { maxDuration: '5s', voicemailDetectionTimeout: '0s' } } },
    });
    const carrier = runSipp({ scenario, port: carrierPort, mediaPort: await mediaPort(), parties });
    const id = newCallId();
    await stage.store.calls.calls.register(
      aCall(stage.org, {
        id,
        room: roomOf(id),
        callType: 'phone_call',
        direction: 'outbound',
        fromNumber: number,
        toNumber: parties.caller,
        agentUid: 'uid-receptionist',
        revision,
        maxDurationMs: 5_000,
      }),
    );
    await createCallRooms(media).open(id);
    await eventually(
      async () => expect((await stage.store.calls.calls.get({ org: stage.org, id }))?.finishReason).toBe(finishReason),
      90_000,
    );
    await carrier;
  });
});
