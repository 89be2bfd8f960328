/** Ends calls that nobody ends any more, so that none is live for ever. */
import { Counter, type Registry } from 'prom-client';

import { sleep, type Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import type { CallStore, FinishReason, OverdueLimits } from '../../store/index.ts';
import type { CallLifecycle } from './lifecycle.ts';
import { emptyRoomSeconds } from './room-options.ts';
import type { Rooms } from './rooms.ts';

/** The job tells of itself every few seconds, and keeps the longest duration by itself: these are for when it can't. */
export const overdueLimits: OverdueLimits = { joinMs: emptyRoomSeconds * 1000, silenceMs: 30_000, graceMs: 15_000 };

/** Between two looks, in milliseconds: together with the longest silence less than 45 s. */
const everyMs = 5_000;

const reasons = {
  not_joined: 'user_connection_failure',
  job_silent: 'native_platform_internal_error',
  too_long: 'maximum_duration_exceeded',
} as const satisfies Readonly<Record<string, FinishReason>>;

export interface ReaperOptions {
  readonly store: Pick<CallStore, 'overdue'>;
  readonly lifecycle: CallLifecycle;
  /** Absent where there is no media server: then there is no room to close. */
  readonly rooms?: Pick<Rooms, 'close'> | undefined;
  readonly clock: Clock;
  /** 0 ≤ x < 1 */
  readonly random: () => number;
  readonly logger: Logger;
  readonly registry: Registry;
  /** {@link overdueLimits} by default. */
  readonly limits?: OverdueLimits;
}

export class Reaper {
  readonly #options: ReaperOptions;
  readonly #reaped: Counter<'reason'>;

  constructor(options: ReaperOptions) {
    this.#options = options;
    this.#reaped = new Counter({
      name: 'parley_calls_reaped_total',
      help: 'Calls that were ended because nothing else ended them, by the reason that they got.',
      labelNames: ['reason'],
      registers: [options.registry],
    });
    // Prometheus sees an increase only of what was there before: the first lost call of a pod must not be the one that nobody hears of.
    for (const reason of Object.values(reasons)) this.#reaped.inc({ reason }, 0);
  }

  /** Several may run side by side: each call is ended once. @returns how many this one ended */
  async once(): Promise<number> {
    const { store, lifecycle, rooms, logger, limits = overdueLimits } = this.#options;
    let ended = 0;
    for (const { org, id, room, cause, ...only } of await store.overdue(limits)) {
      const reason = reasons[cause];
      const { changed } = await lifecycle.end({ org, id, reason, only });
      if (!changed) continue;
      ended += 1;
      this.#reaped.inc({ reason });
      logger.warn({ org, callId: id, reason }, 'a call was ended because nothing else ended it');
      // Whoever is still in there talks to nobody; the media server closes the room by itself when they leave.
      await rooms?.close(room).catch((err: unknown) => logger.warn({ err, callId: id }, 'the room of a call could not be closed'));
    }
    return ended;
  }

  /** Looks until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, random, logger } = this.#options;
    while (!signal.aborted) {
      await this.once().catch((err: unknown) => logger.warn({ err }, 'calls were not looked after; the next look comes'));
      // Replicas don't look all at the same time.
      await sleep(clock, everyMs * (0.75 + random() / 2), signal).catch(() => undefined);
    }
  }
}
