/**
 * One call:
 *
 *   pick up ──▶ prepare ──▶ converse ──▶ end ──▶ record
 *
 * | state | what happens | leads on when |
 * |---|---|---|
 * | pick up | finds the call that was dispatched, or registers one that comes in by phone | there is a call: prepare; there is none: its room is closed |
 * | prepare | enters the room, reads revision, data and keys, dials an outbound call | both sides hear each other: converse |
 * | converse | recording begins, the call is `started`, the welcome message is said | a finish reason is decided: end |
 * | end | farewell, recording ends, conversation and room are closed | always: record |
 * | record | transcript, recording and finish reason are stored, one line is logged | always: the job is over |
 *
 * From the pick-up on, anything may decide the finish reason; the first one counts (finish-reason.ts), and leads straight to the end:
 *
 * | what happens | finish reason |
 * |---|---|
 * | the user hangs up or is disconnected | `user_ended_call`, `user_connection_failure`, …: `finishReasonOfDisconnect` |
 * | the user never comes, or leaves before the agent speaks; comes without a microphone | `user_connection_failure`; `no_audio_input` |
 * | a dial fails; voicemail answers | `line_busy`, `no_answer`, `call_failed`, `carrier_error`; `no_answer` |
 * | the agent calls `end_call`, or the API is asked to end the call; hands the call over | `agent_ended_call`; `call_transferred` |
 * | both sides are silent for too long | `inactivity_timeout`; `no_audio_input` where the user has no microphone; `user_connection_failure` where its packets have stopped |
 * | the longest duration is reached | `maximum_duration_exceeded` |
 * | a provider fails, before or during the conversation | `finishReasonOfProviderFailure` |
 * | the process has to stop, the media server is lost, anything else fails | `native_platform_internal_error` |
 * | the record says that the call is over or another job's | `elsewhere`: nothing is recorded |
 */
import { AutoSubscribe, type JobContext } from '@livekit/agents';
import type { RemoteParticipant } from '@livekit/rtc-node';

import { millisecondsOf } from '../../crds/duration.ts';
import { withTimeout } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { traceContextOf } from '../../platform/telemetry/trace-context.ts';
import { inSpan } from '../../platform/telemetry/tracing.ts';
import { isTerminal, type CallRecord } from '../../store/index.ts';
import { callIdOfDispatch, userIdentityOf } from '../../calls/names.ts';
import type { Rooms } from '../../calls/rooms.ts';
import { isInboundDispatch } from '../../calls/names.ts';
import type { SipGateway } from '../../calls/sip/gateway.ts';
import { FinishDecision, type Finish } from '../finish-reason.ts';
import { finishReasonOfDisconnect } from './disconnect-reason.ts';
import { Transfers, type InboundCalls, type OutboundCalls } from '../phone/index.ts';
import type { OpenRecording } from '../recording/index.ts';
import { playTones } from '../sound/tones.ts';
import { CallEnd, type ServedCall } from './call-end.ts';
import { sendHeartbeats } from './heartbeat.ts';
import { LiveControl } from './live-control.ts';
import { LiveEvents } from './live-events.ts';
import { LogWriter, type LogWriterOptions } from './log-writer.ts';
import { persist } from './persist.ts';
import type { CallMeters } from '../../calls/usage/call-meters.ts';
import { PreparationError, prepareCall, type PreparedCall } from './prepare.ts';
import { RoomWatch } from './room-watch.ts';
import type { Services } from './services.ts';

/** Longest waits, in milliseconds. */
const TIMEOUTS = { farewell: 25_000, preparation: 5_000, start: 20_000 } as const;

export interface CallJobOptions {
  readonly services: Services;
  readonly rooms: Pick<Rooms, 'close'>;
  readonly phone: {
    readonly inbound: Pick<InboundCalls, 'take'>;
    readonly outbound: Pick<OutboundCalls, 'dial'>;
    readonly gateway: SipGateway;
  };
  /** Aborts when the call has to end, because its process does or the media server says so. */
  readonly stop: AbortSignal;
}

/** A call, and which participant of its room is the user. */
interface PickedUp {
  readonly call: CallRecord;
  readonly userIdentity: string;
  /** The user of a call that came in by phone, who was there. */
  readonly caller?: RemoteParticipant;
}

interface Serving extends PickedUp, ServedCall {
  readonly usage: CallMeters;
  readonly jobId: string;
  readonly live: LiveEvents;
  readonly decision: FinishDecision;
}

/** A call in conversation; the preparation runs until the user joins. */
interface Held {
  readonly watch: RoomWatch;
  readonly transfers: Transfers;
  readonly control: LiveControl;
  readonly preparing: Promise<PreparedCall>;
  /** Resolves when the user can be heard, or is there and waits. */
  readonly media: Promise<void>;
}

export class CallJob {
  readonly #options: CallJobOptions;
  readonly #end: CallEnd;

  constructor(options: CallJobOptions) {
    this.#options = options;
    this.#end = new CallEnd(options);
  }

  /** Serves the call that the job is for. Returns when it is over and the room is closed. */
  async run(ctx: JobContext): Promise<void> {
    const { logger } = this.#options.services;
    const inbound = isInboundDispatch(ctx.job.metadata);
    const found = inbound ? undefined : await this.#findDispatched(ctx);
    const parent = traceContextOf(found?.call.traceparent) ?? 'none';
    await inSpan({ name: 'call', kind: 'consumer', parent }, async (span) => {
      const pickedUp = inbound ? await this.#registerInbound(ctx) : found;
      if (pickedUp === undefined) {
        logger.warn({ jobId: ctx.job.id, room: ctx.job.room?.name }, 'the job has no call to serve; closing its room');
        await this.#end.closeRoom(ctx.job.room?.name, logger);
        return;
      }
      const { org, id, callType, direction } = pickedUp.call;
      span.set({ 'parley.org': org, 'parley.call': id, 'parley.call_type': callType, 'parley.direction': direction ?? undefined });
      await this.#serve(ctx, pickedUp, logger.child({ callId: id, org }));
    });
  }

  // -- pick up

  /** Registers a call that comes in by phone: it has no record yet, and rings until something is published in its room. */
  async #registerInbound(ctx: JobContext): Promise<PickedUp | undefined> {
    await ctx.connect(undefined, AutoSubscribe.AUDIO_ONLY);
    const taken = await this.#options.phone.inbound.take(ctx.room, ctx.job.room?.name ?? '');
    return taken && { ...taken, userIdentity: taken.caller.identity };
  }

  async #findDispatched(ctx: JobContext): Promise<PickedUp | undefined> {
    const { clock, logger, store } = this.#options.services;
    const { calls } = store.calls;
    const id = callIdOfDispatch(ctx.job.metadata) ?? '';
    const call = await persist(
      async () => {
        const org = await calls.organizationOf(id);
        return org === undefined ? undefined : calls.get({ org, id });
      },
      { clock, logger, withinMs: TIMEOUTS.start, what: 'find the call' },
    );
    if (call === undefined || isTerminal(call.status) || call.room !== ctx.job.room?.name) return undefined;
    return { call, userIdentity: userIdentityOf(call.id) };
  }

  /** Serves a call that has a job from here on: it sends heartbeats, and stops with its process. */
  async #serve(ctx: JobContext, pickedUp: PickedUp, log: Logger): Promise<void> {
    const { call } = pickedUp;
    const { services, stop } = this.#options;
    const { store, clock } = services;
    const jobId = ctx.job.id;
    const decision = new FinishDecision();
    const onStop = (): void => void decision.decide('native_platform_internal_error');
    stop.addEventListener('abort', onStop, { once: true });
    const beating = new AbortController();
    const onLost = (): boolean => decision.decide('elsewhere');
    const heartbeats = sendHeartbeats({ calls: store.calls.calls, call, jobId, signal: beating.signal, onLost, clock, logger: log });
    const usage = services.usageOf(call);
    const live = new LiveEvents({ room: ctx.room, publish: (events) => store.calls.events.publish(call.id, events), clock, logger: log });
    const eventsOf: LogWriterOptions['eventsOf'] = (takeover) => services.lifecycle.handedOver(call, takeover);
    const onStored = (): void => live.stored();
    const writer = new LogWriter({ log: store.calls.log, call, eventsOf, usage, onStored, clock, logger: log });
    const recording = await this.#openRecording(ctx, call, log);
    const serving: Serving = { ...pickedUp, jobId, room: ctx.room, decision, log, writer, live, usage, recording };
    try {
      const held = this.#prepare(ctx, serving);
      let starting: Promise<void> = Promise.resolve();
      const beginning = this.#converse(ctx, serving, held, () => {
        starting = this.#start(serving);
      });
      const finish = await decision.made();
      const over = await this.#leave(serving, finish, held.watch);
      const controlled = held.control.close();
      const begun = beginning.then(() => held.preparing).catch(() => undefined);
      const prepared = await withTimeout(clock, TIMEOUTS.preparation, begun);
      // Nothing waits for an unfinished preparation; it leaves nothing behind either.
      if (prepared === undefined)
        void begun.then((late) => late && Promise.allSettled([late.conversation.close(), late.providers.close()]));
      const { transfers } = held;
      const closing = await this.#end.hangUp(serving, { finish, prepared, transfers });
      await withTimeout(clock, TIMEOUTS.preparation, controlled);
      await this.#end.record(serving, { finish, over, starting, closing, prepared, transfers });
      live.stored();
      await live.close();
    } finally {
      beating.abort();
      serving.recording?.leave();
      stop.removeEventListener('abort', onStop);
      await heartbeats;
    }
  }

  // -- prepare

  #prepare(ctx: JobContext, { call, userIdentity, decision, log, writer, live, usage, recording }: Serving): Held {
    const { services, phone } = this.#options;
    const { clock } = services;
    const media = Promise.withResolvers<void>();
    const watch = new RoomWatch({
      room: ctx.room,
      userIdentity,
      clock,
      onMedia: () => media.resolve(),
      onEnd: (reason) => {
        if (reason === 'agent_ended_call') decision.decide(reason);
        // A user who is transferred leaves before the transfer reports its outcome.
        else void transfers.reasonOf(reason).then((known) => decision.decide(known));
      },
      reasonOf: (left, begun) => finishReasonOfDisconnect(left, { callType: call.callType, begun }),
      joinMs: services.config.PARLEY_CALL_JOIN_SECONDS * 1_000,
      ringing: call.direction === 'outbound',
    });
    const preparing = prepareCall({
      services,
      call,
      room: ctx.room,
      userIdentity,
      log: writer,
      usage,
      logger: log,
      recording,
      turnModel: ctx.inferenceExecutor,
      live,
      over: decision.signal,
      transfer: async (target) => {
        // A test has no one to hand the call over to: it only sees that the agent does it.
        const outcome = call.test === null ? await transfers.transfer(target) : ({ outcome: 'done' } as const);
        if (outcome.outcome === 'done') decision.decide('call_transferred');
        return outcome;
      },
      onEnd: (reason, farewell) => {
        if (reason === 'inactivity_timeout') void watch.reasonOfSilence().then((known) => decision.decide(known));
        else decision.decide(reason, farewell);
      },
    });
    const transfers = new Transfers({
      room: ctx.room,
      call,
      userIdentity,
      gateway: phone.gateway,
      routes: services.store.phoneRoutes,
      voice: {
        say: async (text, signal) => (await preparing).conversation.transferVoice.say(text, signal),
        summary: async () => (await preparing).conversation.transferVoice.summary(),
        deafen: async () => (await preparing).conversation.transferVoice.deafen(),
      },
      over: decision.signal,
      clock,
      logger: log,
    });
    const control = new LiveControl({ room: ctx.room, commands: services.store.calls.commands, call, clock, logger: log });
    return { watch, transfers, control, preparing, media: media.promise };
  }

  async #enterRoom(ctx: JobContext, watch: RoomWatch, caller: RemoteParticipant | undefined): Promise<void> {
    await ctx.connect(undefined, AutoSubscribe.AUDIO_ONLY);
    watch.entered(caller);
  }

  async #dial({ call, decision }: Serving, watch: RoomWatch): Promise<void> {
    const dialled = await this.#options.phone.outbound.dial(call, { signal: decision.signal });
    if (dialled.outcome === 'answered') watch.answered();
    else if (dialled.outcome === 'failed') decision.decide(dialled.reason);
  }

  // -- converse

  /**
   * Holds the conversation up to the welcome message. Never throws: a failure decides the finish reason. @param onStart called when both
   * sides hear each other
   */
  async #converse(ctx: JobContext, serving: Serving, { watch, control, preparing, media }: Held, onStart: () => void): Promise<void> {
    const { call, decision, log, recording } = serving;
    const outbound = call.direction === 'outbound';
    // The room of a web call exists before its user joins: a failure is said once the user can hear it.
    const userComes = async (): Promise<unknown> => call.callType === 'web_call' && Promise.race([watch.come(), decision.made()]);
    const entering = this.#enterRoom(ctx, watch, serving.caller);
    try {
      const [, { conversation, config, redact }] = await Promise.all([entering, preparing]);
      await userComes();
      if (decision.reason !== undefined) return;
      await conversation.start();
      if (outbound) await this.#dial(serving, watch);
      await Promise.race([media, decision.made()]);
      if (decision.reason !== undefined) return;
      recording?.begin();
      onStart();
      const { mode, timeout } = config.agent.call.voicemailDetection;
      if (outbound && mode === 'Always') {
        const stopListening = conversation.listenForVoicemail({
          timeoutMs: millisecondsOf(timeout),
          onMachine: () => decision.decide('no_answer'),
        });
        decision.signal.addEventListener('abort', stopListening, { once: true });
      }
      conversation.begin();
      control.begin(conversation.controlled, redact);
    } catch (err) {
      // No one is waited for in a room that the agent can't enter.
      await entering.then(userComes, () => undefined);
      const reason = err instanceof PreparationError ? err.reason : 'native_platform_internal_error';
      const first = decision.decide(reason, () => playTones(ctx.room));
      if (first) log.error({ err, reason }, 'failed to begin the call');
    }
  }

  async #start({ call, jobId, decision, log }: Serving): Promise<void> {
    const { lifecycle, clock } = this.#options.services;
    const { org, id } = call;
    const began = clock.monotonic();
    const start = () => lifecycle.start({ org, id, jobId, startedAgoMs: () => clock.monotonic() - began });
    try {
      const { changed, call: now } = await persist(start, {
        clock,
        logger: log,
        withinMs: TIMEOUTS.start,
        what: 'record the start of the call',
      });
      if (changed) log.info({ agent: call.overrideAgentName ?? call.agentName }, 'the call has begun');
      else if (isTerminal(now.status)) decision.decide('elsewhere');
    } catch (err) {
      log.error({ err }, 'failed to record the start of the call; ending it');
      decision.decide('native_platform_internal_error');
    }
  }

  async #openRecording(ctx: JobContext, { org, id, recordingEnabled }: CallRecord, log: Logger): Promise<OpenRecording | undefined> {
    if (!recordingEnabled) return undefined;
    try {
      return await this.#options.services.recordings.open({ org, id, jobId: ctx.job.id });
    } catch (err) {
      log.error({ err }, 'cannot open a recording in the spool; the call is not recorded');
      return undefined;
    }
  }

  // -- end

  /** Says the farewell, and ends the recording. @returns when the call was over, by the monotonic clock */
  async #leave({ recording }: Serving, { farewell }: Finish, watch: RoomWatch): Promise<number> {
    const { services, stop } = this.#options;
    const { clock, logger } = services;
    watch.close();
    if (farewell !== undefined && watch.present && !stop.aborted) {
      const said = farewell().catch((err: unknown) => logger.warn({ err }, 'failed to say why the call ends'));
      await withTimeout(clock, TIMEOUTS.farewell, Promise.race([said, watch.gone()]));
    }
    recording?.end();
    return clock.monotonic();
  }
}
