import type { FastifyInstance } from 'fastify';

import { CallDeletion } from '../../calls/call-deletion.ts';
import { createRooms } from '../../calls/rooms.ts';
import { CallLifecycle } from '../../calls/lifecycle.ts';
import { covers, type CallRecord } from '../../store/index.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { Caller } from '../http/caller.ts';
import { ApiError, notFound, ValidationError } from '../http/api-error.ts';
import { tokenOf } from '../http/auth.ts';
import { meets, type Requirement } from '../http/permissions.ts';
import { addRoute, type RouteContext } from '../http/route.ts';
import type { KindContext } from '../kinds/context.ts';
import { validate } from '../validation/validate.ts';
import { Admission } from './admission.ts';
import { AnalysisReader } from './analysis.ts';
import { CallFollowers } from './call-followers.ts';
import { EventStream } from './event-stream.ts';
import { lastEventIdHeader } from './event-answers.ts';
import { CallEnding } from './call-ending.ts';
import { CallControl, commandToRest, type AskedCommand } from './control.ts';
import {
  followCall,
  instructInCall,
  listCallCommands,
  listenToCall,
  muteInCall,
  sayInCall,
  takeOverCall,
  transferCall,
} from './control-descriptions.ts';
import { CallService } from './call-service.ts';
import { callSummaryToRest, callToRest, nothingLogged, type CallExtras } from './codec.ts';
import {
  createWebCall,
  deleteCall,
  dialOutboundPhoneCall,
  downloadRecording,
  endCall,
  getAnalysisResults,
  getCall,
  listCalls,
  openSignedRecording,
  signRecordingUrl,
} from './descriptions.ts';
import { OutboundPhoneCalls } from './outbound-phone-calls.ts';
import { ADDRESS_MINUTES, fileNameOf, RecordingLinks } from './recordings.ts';
import { ServedAgents } from './served-agents.ts';

export function registerCalls(
  app: FastifyInstance,
  context: KindContext,
  { store, clock, calls, signing, logger }: Pick<ApiDependencies, 'store' | 'clock' | 'calls' | 'signing' | 'logger'>,
): void {
  const agents = new ServedAgents({ context, revisions: store.agentRevisions });
  const lifecycle = new CallLifecycle({ calls: store.calls.calls, clock });
  const rooms = calls.mediaServer && createRooms(calls.mediaServer);
  const ending = new CallEnding({ calls: store.calls.calls, lifecycle, rooms, clock });
  const deletion = new CallDeletion({ store: store.calls, files: calls.recordings });
  const admission = new Admission({ servers: store.voiceServers, calls: store.calls.calls, agentName: calls.mediaServer?.agentName });
  const registration = { agents, admission, lifecycle, usage: store.calls.usage, unjoinedPercent: calls.unjoinedPercent, clock, rooms };
  const outbound = new OutboundPhoneCalls({ ...registration, routes: store.phoneRoutes });
  const service = new CallService({ ...registration, store: store.calls, mediaServer: calls.mediaServer });
  const recordings = new RecordingLinks({
    calls: store.calls.calls,
    files: calls.recordings,
    signing,
    publicUrl: () => calls.publicUrl ?? listeningUrl(app),
    clock,
  });

  const analyses = new AnalysisReader({ calls: store.calls, agentRevisions: store.agentRevisions });

  /** @param own whether this request made the call, and its caller may join it; with `calls:write` a caller may join any */
  const extrasOf = async (call: CallRecord, caller: Caller, { own = false } = {}): Promise<CallExtras> => ({
    ...((own || covers(caller.permissions, 'calls:write')) && (await service.accessTo(call))),
    recordingUrl:
      call.recording !== null && maySee(caller, call, 'recordings:read') ? recordings.sign(call, ADDRESS_MINUTES).url : undefined,
  });

  addRoute(app, createWebCall, async ({ body, caller, reply, timed }) => {
    const call = await timed('db', () => service.createWebCall(caller, body));
    const extras = await extrasOf(call, caller, { own: true });
    return reply.code(201).send(callToRest(call, { ...extras, ...nothingLogged }));
  });

  addRoute(app, dialOutboundPhoneCall, async ({ body, caller, reply, timed }) => {
    const call = await timed('db', () => outbound.dial(caller, body));
    return reply.code(201).send(callToRest(call, { ...(await extrasOf(call, caller)), ...nothingLogged }));
  });

  addRoute(app, listCalls, async ({ query, caller, timed }) => {
    const list = `calls/${caller.org}/${query.sort_direction}`;
    const [after] = query.page_token === undefined ? [] : context.pageTokens.read(list, query.page_token);
    const { items, next, total } = await timed('db', () => service.list(caller.org, query, after));
    const used = await store.calls.usage.ofCalls(
      caller.org,
      items.map(({ id }) => id),
    );
    const summaryOf = async (call: CallRecord) =>
      callSummaryToRest(call, { ...(await extrasOf(call, caller)), usage: used.get(call.id) ?? [] });
    return {
      calls: await Promise.all(items.map(summaryOf)),
      next_page_token: next === undefined ? null : context.pageTokens.write(list, [next]),
      total_count: total,
    };
  });

  const wholeAnswer = async (call: CallRecord, caller: Caller) => {
    const log = await service.transcript(call);
    const usage = await store.calls.usage.ofCall(call);
    return callToRest(call, { ...(await extrasOf(call, caller)), ...log, usage, analysis: await analyses.ofCall(call) });
  };

  addRoute(app, getCall, async ({ params, caller, timed }) => {
    const call = await timed('db', () => service.get(caller.org, params.call_id));
    if (!maySee(caller, call, 'calls:read')) throw notFound('Call');
    return timed('db', () => wholeAnswer(call, caller));
  });

  addRoute(app, endCall, async ({ params, caller, timed }) => {
    const call = await timed('db', () => service.get(caller.org, params.call_id));
    const over = await ending.end(call);
    return timed('db', () => wholeAnswer(over, caller));
  });

  addRoute(app, deleteCall, async ({ params, caller, reply, timed }) => {
    const outcome = await timed('db', () => deletion.delete({ org: caller.org, id: params.call_id }));
    if (outcome === 'not_found') throw notFound('Call');
    if (outcome === 'live') throw new ApiError('conflict', `the call is going on: end it first (POST /v1/calls/${params.call_id}/end)`);
    return reply.code(204).send();
  });

  addRoute(app, getAnalysisResults, async ({ params, caller: { org }, timed }) =>
    timed('db', () => analyses.results({ org, id: params.call_id, agent: params.ai_agent_id })),
  );

  registerControl(app, service, new CallControl({ commands: store.calls.commands, rooms, mediaServer: calls.mediaServer, clock, logger }));
  const followers = new CallFollowers({ store: store.calls, rooms, clock, logger });
  // Before the server waits for requests to end: these end with their calls.
  app.addHook('preClose', () => followers.close());
  addRoute(app, followCall, async ({ params, query, caller, request, reply, timed }) => {
    const { after, isOver } = readLastEventId(request.headers['last-event-id'] ?? query.last_event_id);
    const call = await timed('db', () => service.get(caller.org, params.call_id));
    if (!maySee(caller, call, 'calls:read')) throw notFound('Call');
    if (isOver) return reply.code(204).send();
    followers.admit(caller.org);
    void reply.type('text/event-stream').header('x-accel-buffering', 'no');
    if (request.method === 'HEAD') return reply.send('');
    const stream = new EventStream({ clock });
    const refusal = async (): Promise<string | undefined> => {
      const { outcome } = await store.apiKeys.authenticate(tokenOf(request));
      return outcome === 'ok' ? undefined : `the API key is ${outcome}`;
    };
    void followers.follow({ call, stream, after, refusal });
    return reply.send(stream.body);
  });
  registerRecordings(app, recordings);
}

/** @throws ValidationError for a header that is no id of an event */
function readLastEventId(sent: string | readonly string[] | undefined): { readonly after: number; readonly isOver: boolean } {
  if (sent === undefined || sent === '') return { after: 0, isOver: false };
  const read = validate(lastEventIdHeader, sent, ['header', 'Last-Event-ID']);
  if (!read.ok) throw new ValidationError(read.issues);
  return { after: Number.parseInt(read.value, 10), isOver: read.value.endsWith('-end') };
}

function registerControl(app: FastifyInstance, service: CallService, control: CallControl): void {
  const carryOut = async (
    { params, caller, reply, timed }: Pick<RouteContext<typeof sayInCall>, 'params' | 'caller' | 'reply' | 'timed'>,
    asked: AskedCommand,
  ) => {
    const call = await timed('db', () => service.get(caller.org, params.call_id));
    const command = await timed('command', () => control.carryOut(caller, call, asked));
    return reply.code(command.finishedAt === null ? 202 : 200).send(commandToRest(command));
  };
  addRoute(app, sayInCall, (request) => carryOut(request, { kind: 'say', body: request.body }));
  addRoute(app, instructInCall, (request) => carryOut(request, { kind: 'instructions', body: request.body }));
  addRoute(app, transferCall, (request) => carryOut(request, { kind: 'transfer', body: request.body }));
  addRoute(app, muteInCall, (request) => carryOut(request, { kind: 'mute', body: request.body }));
  const admit = async (
    { params, caller, timed }: Pick<RouteContext<typeof listenToCall>, 'params' | 'caller' | 'timed'>,
    kind: 'listen' | 'take_over',
  ) => {
    const call = await timed('db', () => service.get(caller.org, params.call_id));
    return timed('db', () => control.admit(caller, call, kind));
  };
  addRoute(app, listenToCall, (request) => admit(request, 'listen'));
  addRoute(app, takeOverCall, (request) => admit(request, 'take_over'));
  addRoute(app, listCallCommands, async ({ params, caller, timed }) => {
    const call = await timed('db', () => service.get(caller.org, params.call_id));
    return { data: (await control.ofCall(call)).map(commandToRest) };
  });
}

function registerRecordings(app: FastifyInstance, recordings: RecordingLinks): void {
  addRoute(app, downloadRecording, async ({ body, caller, request, reply, timed }) => {
    const ref = { org: caller.org, id: body.call_id };
    const call = await timed('db', () => recordings.find(ref, (found) => maySee(caller, found, 'recordings:read')));
    return recordings.send(request, reply, call);
  });

  addRoute(app, signRecordingUrl, async ({ body, caller: { org }, timed }) => {
    const call = await timed('db', () => recordings.find({ org, id: body.call_id }));
    const minutes = body.expiration_url_in_minutes;
    const { url, expiresAt } = recordings.sign(call, minutes);
    return { file_name: fileNameOf(call.id), signed_url: url, expiration_minutes: minutes, expires_at: expiresAt.toISOString() };
  });

  addRoute(app, openSignedRecording, async ({ params, request, reply, timed }) => {
    const call = await timed('db', () => recordings.findByToken(params.token));
    return recordings.send(request, reply, call);
  });
}

/** Callers with `calls:create` see the calls that the same key has made; callers with `permission` see all of them. */
function maySee(caller: Caller, call: CallRecord, permission: Exclude<Requirement, 'public'>): boolean {
  return meets(caller.permissions, permission) || (covers(caller.permissions, 'calls:create') && call.createdByKey === caller.keyId);
}

/** Returns where the API listens on this machine: it serves as the address of an installation that configures no other. */
function listeningUrl({ server }: Pick<FastifyInstance, 'server'>): string {
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return `http://127.0.0.1${port === undefined ? '' : `:${port}`}`;
}
