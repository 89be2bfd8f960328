/** Receives a LiveKit server's webhook about its rooms. It is no part of the interface, and not for clients. */
import type { FastifyInstance } from 'fastify';
import { WebhookReceiver, type WebhookEvent } from 'livekit-server-sdk';
import { Counter, type Registry } from 'prom-client';

import type { CallLifecycle } from '../../calls/lifecycle.ts';
import type { MediaServer } from '../../calls/media-server.ts';
import { userIdentityOf } from '../../calls/names.ts';
import { createRooms, isAgent } from '../../calls/rooms.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { isTerminal, type CallRecord, type CallStore } from '../../store/index.ts';
import { ApiError } from '../http/api-error.ts';
import { addRoute, routesOf } from '../http/route.ts';
import { LostJobs } from './lost-jobs.ts';

/** LiveKit is configured to post to this path. */
export const MEDIA_EVENTS_PATH = '/internal/livekit/events';

/** One of the reasons for disconnects in LiveKit's protocol. */
const CLIENT_INITIATED = 1;
/** An event holds one room and one participant at most. */
const BODY_LIMIT = 256 * 1024;

const takeEvent = routesOf('Operations')({
  method: 'POST',
  path: MEDIA_EVENTS_PATH,
  operationId: 'takeMediaEvent',
  summary: 'Events of the media server',
  permission: 'public',
  bodyLimit: BODY_LIMIT,
  undocumented: true,
  answers: { 200: { description: 'Taken.' } },
});

export interface MediaEventOptions {
  readonly mediaServer: MediaServer;
  readonly calls: Pick<CallStore['calls'], 'ofRoom' | 'get'>;
  readonly lifecycle: Pick<CallLifecycle, 'end'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
}

/**
 * Takes events that the media server signs with its key in Parley's configuration. Events may come late, twice, in any order or never: each
 * is but a reason to check its call.
 */
export function registerMediaEvents(app: FastifyInstance, { mediaServer, registry, ...options }: MediaEventOptions): void {
  const receiver = new WebhookReceiver(mediaServer.apiKey, mediaServer.apiSecret);
  const events = new Counter({
    name: 'parley_media_events_total',
    help: 'Events received from the media server, by outcome: `ignored`, or `looked` when the call it is about was checked.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const ended = new Counter({
    name: 'parley_calls_lost_total',
    help: 'Calls that were ended because their agent had left the room and their job was silent.',
    registers: [registry],
  });
  const rooms = createRooms(mediaServer);
  const lost = new LostJobs({ ...options, rooms, onEnded: () => ended.inc() });
  app.addHook('onClose', () => lost.stop());

  const callOf = async (room: string): Promise<CallRecord | undefined> => {
    const ref = await options.calls.ofRoom(room);
    return ref && options.calls.get(ref);
  };

  /** Closes the room of a call that is over: a media server that creates rooms on join does so for its token, too. */
  const closeIfOver = async (room: string): Promise<void> => {
    const call = await callOf(room);
    if (call !== undefined && isTerminal(call.status)) await rooms.close(room);
  };

  /** Ends a call whose user leaves before it begins: a job that comes late finds the room closed. */
  const endIfNotBegun = async ({ room, identity }: { readonly room: string; readonly identity: string }): Promise<void> => {
    const call = await callOf(room);
    if (call?.status !== 'registered' || call.callType !== 'web_call' || identity !== userIdentityOf(call.id)) return;
    const { org, id } = call;
    const { call: now } = await options.lifecycle.end({ org, id, reason: 'user_connection_failure', only: { status: 'registered' } });
    if (isTerminal(now.status)) await rooms.close(room);
  };

  addRoute(app, takeEvent, async ({ request, reply }) => {
    const event = await readEvent(receiver, request.body, request.headers.authorization);
    const suspicion = suspicionOf(event);
    events.inc({ outcome: suspicion === undefined ? 'ignored' : 'looked' });
    if (suspicion !== undefined) lost.suspect(suspicion);
    const entered = event.event === 'participant_joined' ? event.room?.name : undefined;
    if (entered !== undefined) await closeIfOver(entered);
    const left = leaverOf(event);
    if (left !== undefined) await endIfNotBegun(left);
    return reply.code(200).send({});
  });
}

/** @throws ApiError `unauthorized` without a valid signature of the media server, `bad_request` for an invalid event */
async function readEvent(receiver: WebhookReceiver, body: unknown, signature: string | undefined): Promise<WebhookEvent> {
  const text = Buffer.isBuffer(body) ? body.toString() : '';
  try {
    return await receiver.receive(text, signature);
  } catch (error) {
    // The signature is checked first: a sender who can sign sends JSON.
    if (error instanceof SyntaxError) throw new ApiError('bad_request', 'this is no event of a media server', { cause: error });
    throw new ApiError('unauthorized', 'this is not signed with the key of the media server', { cause: error });
  }
}

/** Returns the participant who has left on purpose. */
function leaverOf({ event, room, participant }: WebhookEvent): { readonly room: string; readonly identity: string } | undefined {
  if (event !== 'participant_left' || room === undefined || participant === undefined) return undefined;
  const onPurpose = (participant.disconnectReason as number) === CLIENT_INITIATED;
  return onPurpose ? { room: room.name, identity: participant.identity } : undefined;
}

/** Returns a suspicion only for events that may mean that no job is left to end the call. */
function suspicionOf({ event, room, participant }: WebhookEvent): { readonly room: string; readonly hadAgent: boolean } | undefined {
  if (room === undefined || room.name === '') return undefined;
  if (event === 'room_finished') return { room: room.name, hadAgent: false };
  const leaves = event === 'participant_left' || event === 'participant_connection_aborted';
  return leaves && participant !== undefined && isAgent(participant) ? { room: room.name, hadAgent: true } : undefined;
}
