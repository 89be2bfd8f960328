/** Records in Postgres the outcomes of claimed deliveries, in batches: attempts, and those that were not attempted. */
import { Batcher } from '../../platform/batcher.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { deliveryIdText } from '../../events/envelope.ts';
import { StoreError } from '../../store/error.ts';
import type { DispatchStore } from '../../store/webhooks/dispatch.ts';
import type { ClaimedDelivery, RecordedAttempt } from '../../store/webhooks/types.ts';
import type { RecordAttempts } from '../attempt/record-attempts.ts';
import type { JudgedAttempt } from '../endpoint-health/park-failing-endpoints.ts';
import type { DeliveryMetrics } from '../metrics.ts';
import { writeAll, type WriteAllOptions } from './write-all.ts';

/** Reasons why a delivery goes back without an attempt. */
export type HandBack =
  | 'stopping'
  | 'late'
  | 'unknown_endpoint'
  /** Its endpoint is switched off or parked. */
  | 'closed_endpoint'
  | 'credentials'
  | 'local'
  /** A Secret or a fault of this installation has just stopped another delivery to the same endpoint. */
  | 'blocked';

export interface RecorderOptions {
  readonly store: Pick<DispatchStore, 'release'>;
  readonly recordAttempts: RecordAttempts;
  readonly metrics: Pick<DeliveryMetrics, 'postponed'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Most rows in one transaction. */
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

interface Return {
  readonly id: string;
  readonly delayMs: number;
}

export class Recorder {
  readonly #metrics: RecorderOptions['metrics'];
  readonly #attempts: Batcher<JudgedAttempt, RecordedAttempt | undefined>;
  readonly #returns: Batcher<Return, void>;

  constructor({ store, recordAttempts, metrics, clock, logger }: RecorderOptions) {
    this.#metrics = metrics;
    const isTemporary = (error: unknown): boolean =>
      error instanceof StoreError && (error.retryable || error.kind === 'schema' || error.kind === 'refused');
    const attempts: WriteAllOptions<JudgedAttempt, RecordedAttempt> = {
      write: async (batch) => (await recordAttempts(batch)).attempts,
      isTemporary,
      onDelay: (err, waitMs) => logger.warn({ err, waitMs, attempts: this.size }, 'failed to record attempts; trying again'),
      onRefused: ({ deliveryId }, err) =>
        logger.error({ err, delivery: deliveryIdText(deliveryId) }, 'failed to record an attempt; it will be made again'),
      clock,
    };
    this.#attempts = new Batcher({ most: BATCH, work: (batch) => writeAll(batch, attempts) });
    const returns: WriteAllOptions<Return, void> = {
      write: async (batch) => {
        for (const [delayMs, same] of Map.groupBy(batch, (one) => one.delayMs)) {
          await store.release(
            same.map(({ id }) => id),
            delayMs,
          );
        }
        return batch.map(() => undefined);
      },
      isTemporary,
      onDelay: (err, waitMs) => logger.warn({ err, waitMs }, 'failed to hand deliveries back; trying again'),
      onRefused: ({ id }, err) =>
        logger.error({ err, delivery: deliveryIdText(id) }, 'failed to hand a delivery back; its lease has to run out'),
      clock,
    };
    this.#returns = new Batcher({ most: BATCH, work: (batch) => writeAll(batch, returns) });
  }

  /** Attempts that are not recorded yet. */
  get size(): number {
    return this.#attempts.size;
  }

  /** Resolves once the attempt is recorded, or with undefined when it never will be. */
  record(result: JudgedAttempt): Promise<RecordedAttempt | undefined> {
    return this.#attempts.add(result);
  }

  /** Makes a delivery claimable again that was not attempted. Resolves once that is written, or its lease has to run out. */
  async handBack({ id }: ClaimedDelivery, why: HandBack): Promise<void> {
    this.#metrics.postponed(why);
    await this.#returns.add({ id, delayMs: HAND_BACK_DELAY_MS[why] });
  }

  /** Resolves once everything is written. */
  async idle(): Promise<void> {
    await Promise.all([this.#attempts.idle(), this.#returns.idle()]);
  }
}
