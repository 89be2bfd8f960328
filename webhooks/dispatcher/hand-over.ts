/** Hands retries over to Temporal workflows: at once, and by a sweep where that failed. */
import type { Clock } from '../../platform/clock.ts';
import { errorMessageOf } from '../../platform/caught.ts';
import type { Logger } from '../../platform/logging.ts';
import { traceContextOf } from '../../platform/telemetry/trace-context.ts';
import { continueTrace } from '../../platform/telemetry/tracing.ts';
import type { DispatchStore } from '../../store/webhooks/dispatch.ts';
import type { Retry, RetryStarter } from '../temporal-retries/retry-starter.ts';

export interface HandOverOptions {
  readonly store: Pick<DispatchStore, 'retriesToStart' | 'markRetrying'>;
  readonly starter: RetryStarter;
  /** Endpoints whose retries wait. */
  readonly waiting: () => readonly string[];
  /** Called with the reason why retries can't be handed over, and with undefined once they can. */
  readonly onAvailability: (reason: string | undefined) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Most starts that are under way at once. */
const AT_ONCE = 16;
/** Most retries that wait here: the rest is left to the sweep. */
const MOST_WAITING = 5_000;
/** No start is tried for so long after a failure, in milliseconds. */
const PAUSE_MS = 3_000;
const SWEEP_LIMIT = 500;
/** How long before its time a retry gets its workflow, where it has none yet, in milliseconds. */
const SWEEP_AHEAD_MS = 10_000;
/** Time after a due retry without a sign of its workflow until the workflow is started again, in milliseconds. */
const LOST_MS = 120_000;

interface Waiting {
  readonly retry: Retry;
  /** When the retry is due, by the monotonic clock. */
  readonly dueAt: number;
}

export class HandOver {
  readonly #options: HandOverOptions;
  #waiting: Waiting[] = [];
  #pausedUntil = -Infinity;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(options: HandOverOptions) {
    this.#options = options;
  }

  /** Rows are `retry_pending` already: what isn't begun here, a sweep begins. */
  add(retries: readonly Retry[]): void {
    const now = this.#options.clock.monotonic();
    if (this.#stopped || now < this.#pausedUntil) return;
    const room = MOST_WAITING - this.#waiting.length;
    for (const retry of retries.slice(0, Math.max(0, room))) this.#waiting.push({ retry, dueAt: now + retry.delayMs });
    if (this.#waiting.length > 0) this.#running ??= this.#run();
  }

  /** Starts workflows that were never started, and a batch of those that got lost again. @throws StoreError */
  async sweep(): Promise<void> {
    const { store, clock, waiting } = this.#options;
    if (this.#stopped || clock.monotonic() < this.#pausedUntil || this.#waiting.length > 0) return;
    for (let more = true; more;) {
      const rows = await store.retriesToStart({ aheadMs: SWEEP_AHEAD_MS, lostMs: LOST_MS, limit: SWEEP_LIMIT, except: waiting() });
      this.add(
        rows.map(({ id, org, eventId, subscriptionUid, state, dueInMs, traceparent }) => ({
          deliveryId: id,
          org,
          eventId,
          subscriptionUid,
          lost: state === 'retrying',
          delayMs: dueInMs,
          traceparent,
        })),
      );
      await this.#running;
      // Lost ones come last, and come again until a worker takes them: one batch of them is enough for now.
      const onlyNew = rows.every(({ state }) => state === 'retry_pending');
      more = rows.length === SWEEP_LIMIT && onlyNew && !this.#stopped && clock.monotonic() >= this.#pausedUntil;
    }
  }

  /** Starts nothing more; resolves when the work under way has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#waiting = [];
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, AT_ONCE);
      const begun = await Promise.all(batch.map((one) => this.#begin(one)));
      const ids = batch.flatMap(({ retry }, index) => (begun[index] === true ? [retry.deliveryId] : []));
      if (ids.length > 0) await this.#mark(ids);
      if (begun.includes(false)) this.#waiting = [];
    }
    // It ends in the same turn as the last look at what waits: what is added later begins a run of its own.
    this.#running = undefined;
  }

  async #begin({ retry, dueAt }: Waiting): Promise<boolean> {
    const { starter, clock, logger, onAvailability } = this.#options;
    try {
      const due = { ...retry, delayMs: Math.max(0, dueAt - clock.monotonic()) };
      await continueTrace(traceContextOf(retry.traceparent), () => starter.start(due));
      onAvailability(undefined);
      return true;
    } catch (err) {
      const reason = errorMessageOf(err);
      if (clock.monotonic() >= this.#pausedUntil) logger.warn({ err }, 'failed to hand retries over to Temporal; they wait in Postgres');
      this.#pausedUntil = clock.monotonic() + PAUSE_MS;
      onAvailability(reason);
      return false;
    }
  }

  async #mark(ids: readonly string[]): Promise<void> {
    try {
      await this.#options.store.markRetrying(ids);
    } catch (err) {
      // Their rows stay as they are, and the sweep begins them again: that does nothing to a workflow that runs.
      this.#options.logger.warn({ err, count: ids.length }, 'failed to record that retries were handed over; the sweep starts them again');
    }
  }
}
