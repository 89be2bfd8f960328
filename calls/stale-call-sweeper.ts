/** Ends calls that nothing else ends: those whose user never joined, whose job is lost, or that outlast their longest duration. */
import { Counter, type Registry } from 'prom-client';

import type { Clock } from '../platform/clock.ts';
import { every } from '../platform/every.ts';
import type { Logger } from '../platform/logging.ts';
import type { CallStore, FinishReason, OverdueLimits } from '../store/index.ts';
import type { CallLifecycle } from './lifecycle.ts';
import type { Rooms } from './rooms.ts';

/** A job sends a heartbeat every few seconds and keeps the longest duration itself: these are for when it can't. */
export const OVERDUE_LIMITS: OverdueLimits = { joinMs: 60_000, silenceMs: 30_000, graceMs: 15_000 };

/** Milliseconds between two sweeps; together with the longest silence, less than 45 s. */
const INTERVAL_MS = 5_000;

/** Longest time that a user in a room waits for an agent, in milliseconds. */
const LONGEST_WAIT_MS = 300_000;

const FINISH_REASONS = {
  not_joined: 'user_connection_failure',
  job_silent: 'native_platform_internal_error',
  too_long: 'maximum_duration_exceeded',
} as const satisfies Readonly<Record<string, FinishReason>>;

export interface StaleCallSweeperOptions {
  readonly store: Pick<CallStore, 'overdue'>;
  readonly lifecycle: CallLifecycle;
  /** Absent without a media server: then there is no room to close. */
  readonly rooms?: Pick<Rooms, 'close' | 'hasUser'> | undefined;
  readonly clock: Clock;
  /** Returns x with 0 ≤ x < 1. */
  readonly random: () => number;
  readonly logger: Logger;
  readonly registry: Registry;
  /** {@link OVERDUE_LIMITS} by default. */
  readonly limits?: OverdueLimits;
}

export class StaleCallSweeper {
  readonly #options: StaleCallSweeperOptions;
  readonly #ended: Counter<'reason'>;

  constructor(options: StaleCallSweeperOptions) {
    this.#options = options;
    this.#ended = new Counter({
      name: 'parley_calls_reaped_total',
      help: 'Calls that were ended because nothing else ended them, by the reason that they got.',
      labelNames: ['reason'],
      registers: [options.registry],
    });
    // Prometheus sees an increase only of a series that exists: without these, the first lost call of a pod would raise no alert.
    for (const reason of Object.values(FINISH_REASONS)) this.#ended.inc({ reason }, 0);
  }

  /** Several replicas may run it: each call is ended once. @returns how many this one ended */
  async once(): Promise<number> {
    const { store, lifecycle, rooms, logger, limits = OVERDUE_LIMITS } = this.#options;
    let ended = 0;
    for (const { org, id, room, cause, ageMs, ...only } of await store.overdue(limits)) {
      if (cause === 'not_joined' && ageMs < LONGEST_WAIT_MS && (await this.#waits(room))) continue;
      const reason = FINISH_REASONS[cause];
      const { changed } = await lifecycle.end({ org, id, reason, only });
      if (!changed) continue;
      ended += 1;
      this.#ended.inc({ reason });
      logger.warn({ org, callId: id, reason }, 'ended a stale call');
      // A user who is still in there hears no agent; the media server closes the room once they leave.
      await rooms?.close(room).catch((err: unknown) => logger.warn({ err, callId: id }, 'failed to close the room of a call'));
    }
    return ended;
  }

  /** Whether a user waits for an agent: all voice processes may be busy. */
  async #waits(room: string): Promise<boolean> {
    const { rooms, logger } = this.#options;
    try {
      return (await rooms?.hasUser(room)) ?? false;
    } catch (err) {
      logger.warn({ err, room }, 'failed to look into the room of a call');
      return true;
    }
  }

  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    const failure = 'stale-call scan failed; retrying';
    return every({ ...this.#options, intervalMs: INTERVAL_MS, failure, signal }, async () => void (await this.once()));
  }
}
