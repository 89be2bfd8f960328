import { awaitEnd } from '../../calls/await-end.ts';
import type { CallLifecycle } from '../../calls/lifecycle.ts';
import type { Rooms } from '../../calls/rooms.ts';
import type { Clock } from '../../platform/clock.ts';
import { isTerminal, StoreError, type CallRecord, type CallStore } from '../../store/index.ts';
import { ApiError, notFound } from '../http/api-error.ts';

export interface CallEndingOptions {
  readonly calls: Pick<CallStore['calls'], 'get'>;
  readonly lifecycle: Pick<CallLifecycle, 'end'>;
  /** Absent without a media server. */
  readonly rooms: Pick<Rooms, 'end' | 'close'> | undefined;
  readonly clock: Clock;
}

/** How long an agent may take to leave, in milliseconds: its session closes, and the last of its recording is written. */
const AGENT_MS = 15_000;
const POLL_MS = 200;

export class CallEnding {
  readonly #options: CallEndingOptions;

  constructor(options: CallEndingOptions) {
    this.#options = options;
  }

  /**
   * Ends a call through its agent, so that its transcript and recording are whole; where there is no agent, the record says so.
   * @throws ApiError `unavailable` when the media server doesn't answer, `not_found` where the call was deleted meanwhile; StoreError
   */
  async end(call: CallRecord): Promise<CallRecord> {
    if (isTerminal(call.status)) return call;
    const { calls, lifecycle, rooms, clock } = this.#options;
    try {
      if ((await rooms?.end(call.room)) === true) {
        const over = await awaitEnd(calls, call, { everyMs: POLL_MS, withinMs: AGENT_MS, clock });
        if (over !== undefined) return over;
      }
      const { call: ended } = await lifecycle.end({ org: call.org, id: call.id, reason: 'agent_ended_call' });
      await rooms?.close(call.room);
      return ended;
    } catch (cause) {
      if (cause instanceof StoreError) throw cause.kind === 'not_found' ? notFound('Call') : cause;
      throw new ApiError('unavailable', 'the media server does not answer: end the call again', { cause });
    }
  }
}
