/** Tests what becomes of the room of a job, with a real media server: the host leaves what its job has not left. */
import { EventEmitter } from 'node:events';

import { initializeLogger, type JobContext, type RunningJobInfo } from '@livekit/agents';
import { AudioFrame, AudioSource, dispose, LocalAudioTrack, TrackPublishOptions, TrackSource } from '@livekit/rtc-node';
import { AccessToken } from 'livekit-server-sdk';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { systemClock } from '../../../platform/clock.ts';
import { JobHost } from '../../../voice/job-processes/job-host.ts';
import { leaveRoom } from '../../../voice/job-processes/leave-room.ts';
import type { FromJobProcess } from '../../../voice/job-processes/messages.ts';
import { RoleClient, type ChildOfServer } from '../../../voice/job-processes/role-client.ts';
import { eventually } from '../../support/eventually.ts';
import { ownMediaServer, type OwnMediaServer } from '../../support/own-media-server.ts';

let server: OwnMediaServer;

beforeAll(async () => {
  initializeLogger({ pretty: false, level: 'silent' });
  server = await ownMediaServer();
  await server.start({ roomsByJoining: true });
});
afterAll(async () => {
  await dispose();
  await server.stop();
});

class AgentServer extends EventEmitter implements ChildOfServer {
  readonly connected = true;
  readonly received: FromJobProcess[] = [];

  send(message: FromJobProcess): void {
    this.received.push(message);
  }
}

async function jobInfo(id: string): Promise<RunningJobInfo> {
  const { url, apiKey, apiSecret } = server.address;
  const token = new AccessToken(apiKey, apiSecret, { identity: 'agent' });
  token.addGrant({ room: id, roomJoin: true });
  return { job: { id, room: { name: id } }, url, token: await token.toJwt(), workerId: 'w' } as unknown as RunningJobInfo;
}

/** Serves one job that plays a sound into its room. @returns the room and the sound, once the host is done with it */
async function served(id: string, then: (ctx: JobContext) => Promise<void>) {
  const agentServer = new AgentServer();
  const warnings: string[] = [];
  const source = new AudioSource(24_000, 1);
  let room: JobContext['room'] | undefined;
  const serve = async (ctx: JobContext): Promise<void> => {
    ({ room } = ctx);
    await ctx.connect();
    const options = new TrackPublishOptions({ source: TrackSource.SOURCE_MICROPHONE });
    await ctx.room.localParticipant!.publishTrack(LocalAudioTrack.createAudioTrack('sound', source), options);
    await then(ctx);
  };
  const logger = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(line) });
  const role = new RoleClient({ process: agentServer, clock: systemClock });
  void new JobHost({ process: agentServer, role, serve, logger }).run();
  agentServer.emit('message', { case: 'start', job: await jobInfo(id) });
  await eventually(() => expect(agentServer.received.at(-1), warnings.join('')).toEqual({ case: 'ended', jobId: id }));
  return { room: room!, source, warnings };
}

const silence = new AudioFrame(new Int16Array(240), 24_000, 1, 240);

it.each<[string, (ctx: JobContext) => Promise<void>, number]>([
  ['stays in its room', async () => undefined, 0],
  ['fails', () => Promise.reject(new Error('it fails')), 1],
  ['has left its room', ({ room }) => leaveRoom(room), 0],
])('a job that %s leaves neither a connection nor a sound', async (name, then, failures) => {
  const { room, source, warnings } = await served(name.replaceAll(' ', '-'), then);
  expect(room.isConnected).toBe(false);
  await expect(source.captureFrame(silence)).rejects.toThrow(/closed/);
  expect(warnings).toHaveLength(failures);
});
