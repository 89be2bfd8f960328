/**
 * Stands before a media server and plays its telephone gateway, which can't be had everywhere: the test decides about what would be
 * dialled or handed on; everything else, calls included, goes through to the real server.
 */
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { randomUUID } from 'node:crypto';

import { AccessToken, JobRestartPolicy, RoomAgentDispatch, RoomConfiguration, RoomServiceClient } from 'livekit-server-sdk';

import type { MediaServer } from '../../calls/media-server.ts';
import { INBOUND_DISPATCH_METADATA } from '../../calls/names.ts';
import { allLeave, TestCaller } from './test-caller.ts';

/** A request to the media server to dial, as its protocol has it. */
export interface DialRequest {
  readonly sipTrunkId: string;
  readonly sipCallTo: string;
  readonly sipNumber: string;
  readonly roomName: string;
  readonly participantIdentity: string;
  readonly ringingTimeout?: string;
  readonly maxCallDuration?: string;
}

export interface ReferRequest {
  readonly roomName: string;
  readonly participantIdentity: string;
  readonly transferTo: string;
}

/** Outcome of a call: the status of the other side, the answer that there is no gateway, or the phone that takes it. */
type Answer = { readonly status: number } | 'no_gateway' | TestCaller;

export interface SipGatewayDouble {
  /** The real server behind this address. */
  readonly server: MediaServer;
  readonly dialled: DialRequest[];
  readonly referred: ReferRequest[];
  /** Host and port that every trunk leads to. */
  trunkAddress: string;
  /** Decides what becomes of a number that is dialled; by default somebody takes the call. */
  onDial: (request: DialRequest) => Promise<Answer> | Answer;
  /** Takes a call that was dialled, as somebody. */
  takes(request: DialRequest): Promise<TestCaller>;
  onRefer: (request: ReferRequest) => Promise<{ readonly status: number } | 'done'> | { readonly status: number } | 'done';
  /** Brings a call in: into a room as a dispatch rule would make it. */
  comesIn(options: {
    readonly from: string;
    readonly to: string;
    readonly sipCallId?: string;
  }): Promise<TestCaller & { readonly roomName: string }>;
  /** Returns who is in a room. */
  participants(room: string): Promise<readonly string[]>;
  close(): Promise<void>;
}

export async function startSipGateway(real: MediaServer): Promise<SipGatewayDouble> {
  const target = new URL(real.url.replace(/^ws/, 'http'));
  const sockets = new Set<Socket>();
  const callers: TestCaller[] = [];
  const rooms = new RoomServiceClient(target.origin, real.apiKey, real.apiSecret);

  const phone = async (
    room: string,
    identity: string,
    attributes: Readonly<Record<string, string>>,
    config?: RoomConfiguration,
  ): Promise<TestCaller> => {
    const token = new AccessToken(real.apiKey, real.apiSecret, { identity, attributes });
    token.kind = 'sip';
    token.addGrant({ room, roomJoin: true, canPublish: true, canSubscribe: true, canPublishData: true });
    if (config !== undefined) {
      // The real gateway joins servers that create rooms on join.
      token.addGrant({ roomCreate: true });
      token.roomConfig = config;
    }
    const caller = new TestCaller();
    callers.push(caller);
    await caller.join({ url: real.url, token: await token.toJwt() });
    return caller;
  };

  const double: SipGatewayDouble = {
    server: undefined as never,
    dialled: [],
    referred: [],
    trunkAddress: '127.0.0.1:5060',
    onDial: (request) => double.takes(request),
    takes: ({ roomName, participantIdentity, sipCallTo, sipNumber }) =>
      phone(roomName, participantIdentity, {
        'sip.callID': `SCL_${randomUUID()}`,
        'sip.phoneNumber': sipCallTo,
        'sip.trunkPhoneNumber': sipNumber,
        'sip.callStatus': 'active',
      }),
    onRefer: () => 'done',
    async comesIn({ from, to, sipCallId = `${randomUUID()}@carrier` }) {
      const roomName = `call-_${from}_${randomUUID().slice(0, 8)}`;
      const attributes = {
        'sip.callID': `SCL_${randomUUID()}`,
        'sip.callIDFull': sipCallId,
        'sip.trunkPhoneNumber': to,
        'sip.phoneNumber': from,
        'sip.trunkID': 'ST_test',
        'sip.ruleID': 'SDR_test',
        'sip.callStatus': 'ringing',
      };
      const agents = [
        new RoomAgentDispatch({
          agentName: real.agentName,
          metadata: INBOUND_DISPATCH_METADATA,
          restartPolicy: JobRestartPolicy.JRP_NEVER,
        }),
      ];
      const config = new RoomConfiguration({ emptyTimeout: 20, departureTimeout: 20, agents });
      return Object.assign(await phone(roomName, `sip_${from}`, attributes, config), { roomName });
    },
    participants: async (room) => (await rooms.listParticipants(room).catch(() => [])).map(({ identity }) => identity),
    async close() {
      await allLeave(callers);
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  const dial = async (asked: DialRequest, response: ServerResponse): Promise<void> => {
    double.dialled.push(asked);
    const answer = await double.onDial(asked);
    if (answer === 'no_gateway') return refuse(response, 503, { code: 'unavailable', msg: 'no response from servers' });
    if (!(answer instanceof TestCaller)) return refuse(response, 400, sipError(answer.status));
    const { roomName, participantIdentity } = asked;
    json(response, 200, { participantId: 'PA_x', participantIdentity, roomName, sipCallId: 'SCL_x' });
  };
  const refer = async (asked: ReferRequest, response: ServerResponse): Promise<void> => {
    double.referred.push(asked);
    const answer = await double.onRefer(asked);
    if (answer === 'done') json(response, 200, {});
    else refuse(response, 400, sipError(answer.status));
  };

  const server = createServer((request, response) => {
    const { url = '' } = request;
    if (url.endsWith('/ListSIPOutboundTrunk'))
      void bodyOf<{ readonly trunkIds: readonly string[] }>(request).then(({ trunkIds }) =>
        json(response, 200, { items: trunkIds.map((sipTrunkId) => ({ sipTrunkId, address: double.trunkAddress })) }),
      );
    else if (url.endsWith('/CreateSIPParticipant')) void bodyOf<DialRequest>(request).then((asked) => dial(asked, response));
    else if (url.endsWith('/TransferSIPParticipant')) void bodyOf<ReferRequest>(request).then((asked) => refer(asked, response));
    else {
      const { method, headers } = request;
      const onward = httpRequest({ host: target.hostname, port: target.port, path: url, method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      onward.on('error', () => response.destroy());
      request.pipe(onward);
    }
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('upgrade', (request, socket, head) => {
    const onward = connect(Number(target.port), target.hostname, () => {
      const headers = request.rawHeaders.map((part, at) => (at % 2 === 0 ? `${part}: ` : `${part}\r\n`)).join('');
      onward.write(`${request.method} ${request.url} HTTP/1.1\r\n${headers}\r\n`);
      onward.write(head);
      onward.pipe(socket).pipe(onward);
    });
    for (const [one, other] of [
      [onward, socket],
      [socket, onward],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(double, { server: { ...real, url, publicUrl: url } });
}

async function bodyOf<T>(request: IncomingMessage): Promise<T> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString()) as T;
}

function sipError(status: number): object {
  return { code: 'unknown', msg: `sip status ${status}`, meta: { sip_status_code: String(status), sip_status: 'As the test says' } };
}

function refuse(response: ServerResponse, status: number, body: object): void {
  json(response, status, body);
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
