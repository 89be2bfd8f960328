/** One call, served by one process: from the dispatch to the end that is written down. */
import { AutoSubscribe, type JobContext } from '@livekit/agents';

import { callIdOfDispatch, userIdentityOf } from '../calls/names.ts';
import type { Rooms } from '../calls/rooms.ts';
import { isInboundDispatch } from '../calls/sip/dispatch.ts';
import { sleep } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { traceContextOf } from '../../platform/telemetry/trace-context.ts';
import { inSpan, type Span } from '../../platform/telemetry/tracing.ts';
import { isTerminal, type CallRecord } from '../../store/index.ts';
import { millisecondsOf } from '../../crds/duration.ts';
import type { SipGateway } from '../calls/sip/gateway.ts';
import {
  finishReasonOfPhoneLeaving,
  listenForVoicemail,
  sessionVoice,
  Transfers,
  type InboundCalls,
  type OutboundCalls,
} from '../phone/index.ts';
import type { OpenRecording } from '../recording/index.ts';
import { LogWriter } from '../session/log-writer.ts';
import { playTones } from '../session/tones.ts';
import { CallEnd, type ServedCall } from './call-end.ts';
import { Ending, type End } from './ending.ts';
import { finishReasonOfLeaving } from './finish-reason.ts';
import { beat } from './heartbeat.ts';
import { persist } from './persist.ts';
import { prepareCall, PreparationFailed, type PreparedCall } from './prepare.ts';
import { RoomWatch } from './room-watch.ts';
import type { Services } from './services.ts';

/** How long the parts of a call may take, in milliseconds. */
const patience = { farewell: 25_000, preparation: 5_000, start: 20_000 } as const;

export interface CallJobOptions {
  readonly services: Services;
  readonly rooms: Pick<Rooms, 'close'>;
  readonly phone: {
    readonly inbound: Pick<InboundCalls, 'take'>;
    readonly outbound: Pick<OutboundCalls, 'dial'>;
    readonly gateway: SipGateway;
  };
  /** Aborts when the process has to stop, and its call with it. */
  readonly stop: AbortSignal;
}

/** A call, and who in its room is its user. */
interface Leg {
  readonly call: CallRecord;
  readonly userIdentity: string;
}

/** Of a call that is being served. */
interface Serving extends Leg, ServedCall {
  readonly jobId: string;
  readonly ending: Ending;
}

export class CallJob {
  readonly #options: CallJobOptions;
  readonly #end: CallEnd;

  constructor(options: CallJobOptions) {
    this.#options = options;
    this.#end = new CallEnd(options);
  }

  /** Serves the call that the job is for. Returns when it is over, and the room is closed. */
  async run(ctx: JobContext): Promise<void> {
    const asCall = { name: 'call', kind: 'consumer' } as const;
    if (isInboundDispatch(ctx.job.metadata))
      await inSpan({ ...asCall, parent: 'none' }, async (span) => this.#take(ctx, await this.#pickUp(ctx), span));
    else {
      const leg = await this.#find(ctx);
      await inSpan({ ...asCall, parent: traceContextOf(leg?.call.traceparent) ?? 'none' }, (span) => this.#take(ctx, leg, span));
    }
    ctx.shutdown('the call is over');
  }

  async #take(ctx: JobContext, leg: Leg | undefined, span: Span): Promise<void> {
    const { logger } = this.#options.services;
    if (leg === undefined) {
      logger.warn({ jobId: ctx.job.id, room: ctx.job.room?.name }, 'a job came for a call that is over, or that nobody takes');
      await this.#end.closeRoom(ctx.job.room?.name, logger);
      return;
    }
    const { org, id, callType, direction } = leg.call;
    span.set({ 'parley.org': org, 'parley.call': id, 'parley.call_type': callType, 'parley.direction': direction ?? undefined });
    await this.#serve(ctx, leg, logger.child({ callId: id, org }));
  }

  /** A call that came in by phone has no record yet, and rings as long as nothing is published. */
  async #pickUp(ctx: JobContext): Promise<Leg | undefined> {
    await ctx.connect(undefined, AutoSubscribe.AUDIO_ONLY);
    const taken = await this.#options.phone.inbound.take(ctx.room, ctx.job.room?.name ?? '');
    return taken.outcome === 'call' ? { call: taken.call, userIdentity: taken.identity } : undefined;
  }

  async #find(ctx: JobContext): Promise<Leg | undefined> {
    const { clock, logger, store } = this.#options.services;
    const { calls } = store.calls;
    const id = callIdOfDispatch(ctx.job.metadata) ?? '';
    const call = await persist(
      async () => {
        const org = await calls.organizationOf(id);
        return org === undefined ? undefined : calls.get({ org, id });
      },
      { clock, logger, withinMs: patience.start, what: 'whose call it is' },
    );
    if (call === undefined || isTerminal(call.status) || call.room !== ctx.job.room?.name) return undefined;
    return { call, userIdentity: userIdentityOf(call.id) };
  }

  async #serve(ctx: JobContext, leg: Leg, log: Logger): Promise<void> {
    const { call } = leg;
    const { services, stop } = this.#options;
    const { store, clock } = services;
    const jobId = ctx.job.id;
    const ending = new Ending();
    const onStop = (): void => void ending.decide('native_platform_internal_error');
    stop.addEventListener('abort', onStop, { once: true });
    const beating = new AbortController();
    const beats = beat({
      calls: store.calls.calls,
      call,
      jobId,
      signal: beating.signal,
      onLost: () => ending.decide('elsewhere'),
      clock,
      logger: log,
    });
    const writer = new LogWriter({ log: store.calls.log, call, clock, logger: log });
    const serving: Serving = { ...leg, jobId, ending, log, writer, recording: await this.#openRecording(ctx, call, log) };
    try {
      await this.#converse(ctx, serving);
    } finally {
      beating.abort();
      stop.removeEventListener('abort', onStop);
      await beats;
    }
  }

  async #converse(ctx: JobContext, serving: Serving): Promise<void> {
    const { services } = this.#options;
    const { call, userIdentity, ending, log, writer, recording } = serving;
    let starting: Promise<void> = Promise.resolve();
    const media = Promise.withResolvers<void>();
    const watch = new RoomWatch({
      room: ctx.room,
      userIdentity,
      clock: services.clock,
      onMedia: () => media.resolve(),
      // Who is handed on leaves before anybody says that it is done.
      onEnd: (reason) => void transfers.reasonOf(reason).then((known) => ending.decide(known)),
      reasonOf: (left) => (call.callType === 'phone_call' ? finishReasonOfPhoneLeaving(left) : undefined) ?? finishReasonOfLeaving(left),
      ringing: call.direction === 'outbound',
    });
    const preparing = prepareCall({
      services,
      call,
      room: ctx.room,
      userIdentity,
      log: writer,
      logger: log,
      over: ending.signal,
      transfer: async (target) => {
        const outcome = await transfers.transfer(target);
        if (outcome.outcome === 'done') ending.decide('call_transferred');
        return outcome;
      },
      onEnd: (reason, farewell) => ending.decide(reason, farewell),
    });
    const onReady = (): void => {
      recording?.begin();
      starting = this.#start(serving);
    };
    const transfers = new Transfers({
      room: ctx.room,
      call,
      userIdentity,
      gateway: this.#options.phone.gateway,
      routes: services.store.phoneRoutes,
      voice: sessionVoice({ session: async () => (await preparing).conversation.session, clock: services.clock, logger: log }),
      over: ending.signal,
      clock: services.clock,
      logger: log,
    });
    const beginning = this.#begin(ctx, { preparing, watch, media: media.promise, serving, onReady });
    const end = await ending.decided();
    watch.close();
    await this.#farewell(end, watch);
    recording?.end();
    const over = services.clock.monotonic();
    // What is still being prepared comes to its end by itself; a call that is over waits for it no longer than for anything else.
    const begun = beginning.then(() => preparing).catch(() => undefined);
    const prepared = await Promise.race([begun, sleep(services.clock, patience.preparation)]);
    await this.#end.finish({ serving, end, over, starting, prepared: prepared ?? undefined, transfers });
  }

  /** Up to the welcome message. Never throws: what goes wrong is a reason for the end. */
  async #begin(
    ctx: JobContext,
    options: {
      readonly preparing: Promise<PreparedCall>;
      readonly watch: RoomWatch;
      readonly media: Promise<void>;
      readonly serving: Serving;
      /** Both can hear each other: this is where the call begins. */
      readonly onReady: () => void;
    },
  ): Promise<void> {
    const { preparing, watch, media, serving, onReady } = options;
    const { ending, log } = serving;
    // The room of a web call is made with the call, and its user comes later, and then hears what is wrong, if something is.
    const userComes = (): Promise<unknown> =>
      serving.call.callType === 'web_call' ? Promise.race([watch.come(), ending.decided()]) : Promise.resolve();
    try {
      const [, { conversation }] = await Promise.all([this.#enter(ctx, watch), preparing]);
      await userComes();
      if (ending.reason !== undefined) return;
      await conversation.start();
      if (serving.call.direction === 'outbound') await this.#dial(serving, watch);
      await Promise.race([media, ending.decided()]);
      if (ending.reason !== undefined) return;
      onReady();
      if (serving.call.direction === 'outbound') this.#judge(await preparing, serving);
      conversation.begin();
    } catch (err) {
      await userComes();
      const reason = err instanceof PreparationFailed ? err.reason : 'native_platform_internal_error';
      const first = ending.decide(reason, () => playTones(ctx.room));
      if (first) log.error({ err, reason }, 'the call could not be begun');
    }
  }

  async #enter(ctx: JobContext, watch: RoomWatch): Promise<void> {
    await ctx.connect(undefined, AutoSubscribe.AUDIO_ONLY);
    watch.entered();
  }

  async #dial({ call, ending }: Serving, watch: RoomWatch): Promise<void> {
    const dialled = await this.#options.phone.outbound.dial(call, { signal: ending.signal });
    if (dialled.outcome === 'answered') watch.answered();
    else if (dialled.outcome === 'failed') ending.decide(dialled.reason);
  }

  /** Nobody has answered where a tape has. */
  #judge({ conversation, config }: PreparedCall, { userIdentity, ending, log }: Serving): void {
    const stop = listenForVoicemail({
      session: conversation.session,
      identity: userIdentity,
      timeoutMs: millisecondsOf(config.agent.call.voicemailDetectionTimeout),
      onMachine: () => ending.decide('no_answer'),
      logger: log,
    });
    ending.signal.addEventListener('abort', stop, { once: true });
  }

  async #start({ call, jobId, ending, log }: Serving): Promise<void> {
    const { lifecycle, clock } = this.#options.services;
    try {
      const { changed, call: now } = await persist(() => lifecycle.start({ org: call.org, id: call.id, jobId }), {
        clock,
        logger: log,
        withinMs: patience.start,
        what: 'the beginning of the call',
      });
      if (changed) log.info({ agent: call.overrideAgentName ?? call.agentName }, 'the call has begun');
      else if (isTerminal(now.status)) ending.decide('elsewhere');
    } catch (err) {
      log.error({ err }, 'the beginning of the call could not be written down');
      ending.decide('native_platform_internal_error');
    }
  }

  async #farewell({ farewell }: End, watch: RoomWatch): Promise<void> {
    const { services, stop } = this.#options;
    if (farewell === undefined || !watch.present || stop.aborted) return;
    const said = farewell().catch((err: unknown) => services.logger.warn({ err }, 'the caller could not be told why the call ends'));
    const enough = new AbortController();
    await Promise.race([said, watch.gone(), sleep(services.clock, patience.farewell, enough.signal).catch(() => undefined)]);
    enough.abort();
  }

  async #openRecording(ctx: JobContext, { org, id }: CallRecord, log: Logger): Promise<OpenRecording | undefined> {
    try {
      return await this.#options.services.recordings.open({ org, id, jobId: ctx.job.id }, ctx);
    } catch (err) {
      log.error({ err }, 'the call is not recorded: there is no place for it');
      return undefined;
    }
  }
}
