/** One call, served by one process: from the dispatch to the end that is written down. */
import { AutoSubscribe, type JobContext } from '@livekit/agents';
import { RoomEvent, TrackKind, type RemoteParticipant, type RemoteTrack } from '@livekit/rtc-node';

import type { CallLifecycle } from '../../calls/lifecycle.ts';
import { callIdOfDispatch, userIdentityOf } from '../../calls/names.ts';
import { sleep, type Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { isTerminal, type CallRecord, type CallRef, type FinishReason, type Store } from '../../store/index.ts';
import { finishReasonOfLeaving } from './finish-reason.ts';

/** How often the job tells that it is there, in milliseconds: a call whose job is silent for 30 s is ended. */
const heartbeatMs = 8_000;

export interface CallJobOptions {
  readonly store: Pick<Store, 'calls'>;
  readonly lifecycle: CallLifecycle;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class CallJob {
  readonly #options: CallJobOptions;

  constructor(options: CallJobOptions) {
    this.#options = options;
  }

  /** Serves the call that the job is for. Returns when it is over, and the room is closed. */
  async run(ctx: JobContext): Promise<void> {
    const { logger } = this.#options;
    const call = await this.#find(ctx);
    if (call === undefined) {
      logger.warn({ jobId: ctx.job.id, room: ctx.job.room?.name }, 'a job came for a call that is over, or that nobody knows');
      await this.#leave(ctx);
      return;
    }
    const log = logger.child({ callId: call.id, org: call.org });
    const reason = await this.#serve(ctx, call, log);
    if (reason !== undefined) {
      const { changed } = await this.#options.lifecycle.end({ org: call.org, id: call.id, reason });
      log.info({ reason, changed }, 'the call is over');
    }
    await this.#leave(ctx);
  }

  async #find(ctx: JobContext): Promise<CallRecord | undefined> {
    const { calls } = this.#options.store.calls;
    const id = callIdOfDispatch(ctx.job.metadata) ?? '';
    const org = await calls.organizationOf(id);
    const call = org === undefined ? undefined : await calls.get({ org, id });
    // A token is good for longer than some calls: who comes late comes into a room of their own making.
    return call === undefined || isTerminal(call.status) || call.room !== ctx.job.room?.name ? undefined : call;
  }

  /** @returns the reason to end the call with; undefined where somebody else has ended it */
  async #serve(ctx: JobContext, call: CallRecord, log: Logger): Promise<FinishReason | undefined> {
    const over = new AbortController();
    const { promise, resolve } = Promise.withResolvers<FinishReason | undefined>();
    const user = userIdentityOf(call.id);
    ctx.room.on(RoomEvent.TrackSubscribed, (track: RemoteTrack, _publication: unknown, participant: RemoteParticipant) => {
      if (track.kind !== TrackKind.KIND_AUDIO || participant.identity !== user) return;
      this.#begin(call, ctx.job.id, log).catch((err: unknown) => {
        log.error({ err }, 'the beginning of the call could not be written down');
        resolve('native_platform_internal_error');
      });
    });
    ctx.room.on(RoomEvent.ParticipantDisconnected, (participant: RemoteParticipant) => {
      if (participant.identity !== user) return;
      const reason = finishReasonOfLeaving(participant.disconnectReason);
      if (reason !== undefined) resolve(reason);
    });
    ctx.room.on(RoomEvent.Disconnected, () => resolve('native_platform_internal_error'));
    ctx.addShutdownCallback(async () => resolve('native_platform_internal_error'));
    try {
      await ctx.connect(undefined, AutoSubscribe.AUDIO_ONLY);
    } catch (err) {
      log.error({ err }, 'the job could not come into the room');
      return 'native_platform_internal_error';
    }
    const beating = this.#beat(call, ctx.job.id, { signal: over.signal, onLost: () => resolve(undefined), log });
    try {
      return await promise;
    } finally {
      over.abort();
      await beating;
    }
  }

  async #begin({ org, id }: CallRef, jobId: string, log: Logger): Promise<void> {
    const { changed } = await this.#options.lifecycle.start({ org, id, jobId });
    if (changed) log.info('the call has begun');
  }

  /** Tells that the job is there, until the signal aborts or the call is not this job's any more. */
  async #beat(
    { org, id }: CallRef,
    jobId: string,
    { signal, onLost, log }: { readonly signal: AbortSignal; readonly onLost: () => void; readonly log: Logger },
  ): Promise<void> {
    const { store, clock } = this.#options;
    while (!signal.aborted) {
      try {
        if (!(await store.calls.calls.heartbeat({ org, id, jobId }))) {
          onLost();
          return;
        }
      } catch (err) {
        // The call goes on while Postgres is away for a moment; for longer, the reaper decides.
        log.warn({ err }, 'nobody could be told that the call goes on');
      }
      await sleep(clock, heartbeatMs, signal).catch(() => undefined);
    }
  }

  async #leave(ctx: JobContext): Promise<void> {
    await ctx.deleteRoom(ctx.job.room?.name);
    ctx.shutdown('the call is over');
  }
}
