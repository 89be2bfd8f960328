/** Records in Postgres the outcomes of claimed deliveries: attempts with what follows from them, and those that were not attempted. */
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { deliveryIdText } from '../../events/envelope.ts';
import { StoreError } from '../../store/error.ts';
import type { DispatchStore } from '../../store/webhooks/dispatch.ts';
import type { ClaimedDelivery } from '../../store/webhooks/types.ts';
import { attemptResult, SHORT_RETRY_MS } from '../attempt/attempt-result.ts';
import { logAttempt, timeOfEvent, type Attempted } from '../attempt/log-attempt.ts';
import type { RecordAttempts } from '../attempt/record-attempts.ts';
import type { JudgedAttempt } from '../endpoint-health/park-failing-endpoints.ts';
import type { EndpointHealthCache } from '../endpoint-health/endpoint-health-cache.ts';
import type { DeliveryMetrics } from '../metrics.ts';
import { Batcher } from './batcher.ts';
import type { EndpointQueues } from './endpoint-queues.ts';
import type { HandOver } from './hand-over.ts';

/** Why a delivery goes back without an attempt. */
export type HandBack =
  | 'stopping'
  /** It waited so long for its turn that another process may be about to claim it. */
  | 'late'
  /** This process does not know its endpoint (yet). */
  | 'unknown_endpoint'
  /** Its endpoint is switched off or parked. */
  | 'closed_endpoint'
  /** A Secret cannot be read. */
  | 'credentials'
  /** A fault of this installation: DNS, its own network. */
  | 'local'
  /** One of the last two has just stopped another delivery to the same endpoint. */
  | 'blocked';

export interface RecorderOptions {
  readonly store: Pick<DispatchStore, 'release'>;
  readonly recordAttempts: RecordAttempts;
  readonly health: Pick<EndpointHealthCache, 'gate'>;
  readonly retries: Pick<HandOver, 'add'>;
  readonly queues: Pick<EndpointQueues, 'due'>;
  readonly metrics: DeliveryMetrics;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
}

/** Rows in one transaction. */
const BATCH = 256;
/** How long a delivery waits after it was handed back, by reason, in milliseconds. */
const HAND_BACK_DELAY_MS: Readonly<Record<HandBack, number>> = {
  stopping: 0,
  late: 0,
  closed_endpoint: 0,
  unknown_endpoint: 2_000,
  credentials: 5_000,
  local: 1_000,
  blocked: 0,
};

interface Ended extends Attempted {
  readonly result: JudgedAttempt;
}

export class Recorder {
  readonly #options: RecorderOptions;
  /** Holds ids and numbers only: looking for secrets in each line would cost more than all the rest of it. */
  readonly #lines: Logger;
  readonly #attempts: Batcher<Ended>;
  readonly #returns: Batcher<{ readonly id: string; readonly delayMs: number }>;

  constructor(options: RecorderOptions) {
    this.#options = options;
    const { store, clock, logger } = options;
    this.#lines = logger.child({}, { redact: [] });
    const isTemporary = (error: unknown): boolean =>
      error instanceof StoreError && (error.retryable || error.kind === 'schema' || error.kind === 'refused');
    this.#attempts = new Batcher<Ended>({
      write: (batch) => this.#write(batch),
      most: BATCH,
      isTemporary,
      onDelay: (err, waitMs) => logger.warn({ err, waitMs, attempts: this.size }, 'failed to record attempts; trying again'),
      onRefused: ({ result }, err) =>
        logger.error({ err, delivery: deliveryIdText(result.deliveryId) }, 'failed to record an attempt; it will be made again'),
      clock,
    });
    this.#returns = new Batcher({
      write: async (batch) => {
        for (const [delayMs, same] of Map.groupBy(batch, (one) => one.delayMs)) {
          await store.release(
            same.map(({ id }) => id),
            delayMs,
          );
        }
      },
      most: BATCH,
      isTemporary,
      onDelay: (err, waitMs) => logger.warn({ err, waitMs }, 'failed to hand deliveries back; trying again'),
      onRefused: ({ id }, err) =>
        logger.error({ err, delivery: deliveryIdText(id) }, 'failed to hand a delivery back; its lease has to run out'),
      clock,
    });
  }

  /** Attempts that are not recorded yet. */
  get size(): number {
    return this.#attempts.size;
  }

  /** Resolves once the attempt is recorded, or never will be. */
  record(attempted: Attempted): Promise<void> {
    const { health, clock, random, metrics } = this.#options;
    const { endpoint, outcome, delivery } = attempted;
    const now = clock.now();
    metrics.attempted(outcome.succeeded ? 'ok' : outcome.reason);
    if (outcome.succeeded) metrics.received((outcome.startedAt + outcome.durationMs - timeOfEvent(delivery.eventId)) / 1000);
    return this.#attempts.add({
      ...attempted,
      result: attemptResult(attempted, { parked: health.gate(endpoint) === 'parked', now, random }),
    });
  }

  /** Makes a delivery claimable again that was not attempted. Resolves once that is written, or its lease has to run out. */
  handBack({ id }: ClaimedDelivery, why: HandBack): Promise<void> {
    this.#options.metrics.postponed(why);
    return this.#returns.add({ id, delayMs: HAND_BACK_DELAY_MS[why] });
  }

  /** Resolves once everything is written. */
  async idle(): Promise<void> {
    await Promise.all([this.#attempts.idle(), this.#returns.idle()]);
  }

  async #write(batch: readonly Ended[]): Promise<void> {
    const { recordAttempts, retries, queues, clock, metrics } = this.#options;
    const { attempts } = await recordAttempts(batch.map(({ result }) => result));
    const now = clock.now();
    batch.forEach((ended, index) => {
      const { result, delivery } = ended;
      const recorded = attempts[index];
      if (recorded === undefined) return;
      const { state, number } = recorded;
      logAttempt(this.#lines, ended, { state, attempt: number === 0 ? delivery.attempts + 1 : number, now });
      if (state === 'succeeded' || state === 'failed' || state === 'skipped') metrics.finished(state);
      else if (state === 'retry_pending' && 'delayMs' in result.next) {
        const { id: deliveryId, org, eventId, subscriptionUid, traceparent } = delivery;
        retries.add([{ deliveryId, org, eventId, subscriptionUid, traceparent, lost: false, delayMs: result.next.delayMs }]);
      } else if (state === 'pending' && 'delayMs' in result.next && result.next.delayMs < SHORT_RETRY_MS) {
        // The database's clock decides: a moment later it is due there, too.
        clock.after(result.next.delayMs + 2, () => queues.due([delivery.subscriptionUid]));
      }
    });
  }
}
