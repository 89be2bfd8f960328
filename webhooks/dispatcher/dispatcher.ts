/** Sends events to their endpoints: relays, fetches, attempts, writes down, and hands over what has to wait. */
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { StoreError } from '../../store/error.ts';
import type { DispatchStore } from '../../store/webhooks/dispatch.ts';
import type { AttemptResult, ClaimedDelivery, NewDelivery } from '../../store/webhooks/types.ts';
import type { Attempt } from '../attempt/attempt.ts';
import { deliveryIdText } from '../../events/envelope.ts';
import { isTest } from '../relay/decide.ts';
import { Relay } from '../relay/relay.ts';
import type { EndpointDirectory } from '../subscriptions/directory.ts';
import { Batcher } from './batcher.ts';
import { Deliverer, type Attempted, type HandBack } from './deliverer.ts';
import { logAttempt, timeOfEvent } from './attempt-line.ts';
import type { EndpointBook, Gate } from './endpoint-book.ts';
import { Fetcher } from './fetcher.ts';
import { HandOver } from './hand-over.ts';
import { judge, SHORT_RETRY_MS } from './judge.ts';
import type { DeliveryMetrics } from './metrics.ts';
import type { RecordAttempts } from './record-attempts.ts';
import type { RetryStarter } from './retry-starter.ts';
import type { SlotsOptions } from './slots.ts';

export interface DispatcherOptions {
  readonly store: DispatchStore;
  readonly directory: EndpointDirectory;
  readonly book: EndpointBook;
  readonly attempt: Attempt;
  readonly recordAttempts: RecordAttempts;
  readonly starter: RetryStarter;
  readonly onRetriesAvailable: (reason: string | undefined) => void;
  readonly metrics: DeliveryMetrics;
  readonly slots?: SlotsOptions;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
}

/** Attempts in one transaction. */
const RECORD_BATCH = 256;
/** How long a delivery waits that was handed back without an attempt, by why it was, in milliseconds. */
const handBackDelayMs: Readonly<Record<HandBack, number>> = {
  stopping: 0,
  late: 0,
  closed_endpoint: 0,
  unknown_endpoint: 2_000,
  credentials: 5_000,
  local: 1_000,
  blocked: 0,
};

/** Retries of these get no workflow: they wait, or end. One that is merely left alone gets its deliveries back from a workflow that got lost. */
const holdsBack: ReadonlySet<Gate> = new Set<Gate>(['paused', 'disabled']);

interface Ended extends Attempted {
  readonly result: AttemptResult;
}

export class Dispatcher {
  readonly deliverer: Deliverer;
  readonly fetcher: Fetcher;
  readonly handOver: HandOver;
  readonly #options: DispatcherOptions;
  /** Holds ids and numbers only: looking through each line for secrets would cost more than all the rest of it. */
  readonly #lines: Logger;
  readonly #relay: Relay;
  readonly #recorder: Batcher<Ended>;
  readonly #returns: Batcher<{ readonly id: string; readonly delayMs: number }>;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#lines = options.logger.child({}, { redact: [] });
    const { store, directory, book, attempt, starter, onRetriesAvailable, slots, clock, logger, metrics } = options;
    this.deliverer = new Deliverer({
      directory,
      book,
      attempt,
      onAttempted: (attempted) => this.#attempted(attempted),
      onHandedBack: (delivery, why) => this.#handedBack(delivery, why),
      unrecorded: () => this.#recorder.size,
      onRoom: () => this.fetcher.wake(),
      ...(slots === undefined ? {} : { slots }),
      clock,
      logger,
    });
    this.fetcher = new Fetcher({ store, deliverer: this.deliverer, clock, logger });
    this.handOver = new HandOver({
      store,
      starter,
      waiting: () => directory.list().flatMap((endpoint) => (holdsBack.has(book.gate(endpoint)) ? [endpoint.uid] : [])),
      onAvailability: onRetriesAvailable,
      clock,
      logger,
    });
    const { lanes } = this.deliverer;
    this.#relay = new Relay({
      store,
      directory,
      gate: (endpoint) => book.gate(endpoint),
      // Where older ones wait, a new one waits behind them.
      reserve: ({ uid }, pastBreaker) =>
        (pastBreaker || !lanes.isHot(uid)) && lanes.reserve(uid, { pastBreaker }) ? this.deliverer.leaseMs(uid) : undefined,
      unreserve: (uid) => lanes.release(uid),
      onClaimed: (deliveries) => this.#claimed(deliveries),
      onLeft: (uids) => this.fetcher.due(uids),
      onRelayed: (events) => metrics.relayed(events),
      clock,
      logger,
    });
    const isTemporary = (error: unknown): boolean =>
      error instanceof StoreError && (error.retryable || error.kind === 'schema' || error.kind === 'refused');
    this.#recorder = new Batcher<Ended>({
      write: (batch) => this.#record(batch),
      most: RECORD_BATCH,
      isTemporary,
      onDelay: (err, waitMs) => logger.warn({ err, waitMs, attempts: this.#recorder.size }, 'attempts are not written down yet'),
      onRefused: ({ result }, err) => {
        this.deliverer.forget(result.deliveryId);
        logger.error({ err, delivery: deliveryIdText(result.deliveryId) }, 'an attempt could not be written down; it is made again');
      },
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
        for (const { id } of batch) this.deliverer.forget(id);
      },
      most: RECORD_BATCH,
      isTemporary,
      onDelay: (err, waitMs) => logger.warn({ err, waitMs }, 'deliveries are not handed back yet'),
      // Its lease runs out by itself.
      onRefused: ({ id }, err) => {
        this.deliverer.forget(id);
        logger.error({ err, delivery: deliveryIdText(id) }, 'a delivery could not be handed back');
      },
      clock,
    });
  }

  /** Attempts that are not written down yet. */
  get unrecorded(): number {
    return this.#recorder.size;
  }

  /** Everything this process has taken on. */
  get held(): number {
    return this.deliverer.lanes.held + this.#recorder.size;
  }

  start(): void {
    this.#relay.start();
    this.fetcher.start();
  }

  /** Takes nothing more, finishes what is on its way, writes it down, and hands the rest back. */
  async stop(): Promise<void> {
    // What the first two still bring is handed back by the third.
    await Promise.all([this.#relay.stop(), this.fetcher.stop(), this.deliverer.stop()]);
    await Promise.all([this.#recorder.idle(), this.#returns.idle()]);
    await this.handOver.stop();
  }

  #claimed(deliveries: readonly NewDelivery[]): void {
    const leases = new Map<string, number>();
    const claimed = deliveries.map(({ id, planned: { event, subscriptionUid, leaseMs } }): ClaimedDelivery => {
      leases.set(subscriptionUid, leaseMs ?? 0);
      const { org, id: eventId, name: eventName, createdAt, body, traceparent } = event;
      return { id, org, eventId, eventName, subscriptionUid, attempts: 0, seriesStart: 0, createdAt, body, traceparent };
    });
    const tests = new Set(deliveries.filter(({ planned }) => isTest(planned.event)).map(({ id }) => id));
    const leaseMs = (uid: string): number => leases.get(uid) ?? 0;
    for (const [probe, some] of Map.groupBy(claimed, ({ id }) => tests.has(id))) this.deliverer.accept(some, { leaseMs, probe });
  }

  #attempted(attempted: Attempted): void {
    const { book, clock, random, metrics } = this.#options;
    const { endpoint, outcome, delivery } = attempted;
    const now = clock.now();
    metrics.attempted(outcome.succeeded ? 'ok' : outcome.reason);
    if (outcome.succeeded) metrics.received((outcome.startedAt + outcome.durationMs - timeOfEvent(delivery.eventId)) / 1000);
    this.#recorder.add({ ...attempted, result: judge(attempted, { parked: book.gate(endpoint) === 'parked', now, random }) });
  }

  #handedBack({ id }: ClaimedDelivery, why: HandBack): void {
    this.#options.metrics.postponed(why);
    this.#returns.add({ id, delayMs: handBackDelayMs[why] });
  }

  async #record(batch: readonly Ended[]): Promise<void> {
    const { recordAttempts, clock, metrics } = this.#options;
    const { attempts } = await recordAttempts(batch.map(({ result }) => result));
    const now = clock.now();
    setImmediate(() => this.deliverer.wake());
    batch.forEach((ended, index) => {
      const { result, delivery } = ended;
      const recorded = attempts[index];
      this.deliverer.forget(delivery.id);
      if (recorded === undefined) return;
      const { state, number } = recorded;
      logAttempt(this.#lines, ended, { state, attempt: number === 0 ? delivery.attempts + 1 : number, now });
      if (state === 'succeeded' || state === 'failed' || state === 'skipped') metrics.finished(state);
      else if (state === 'retry_pending' && 'delayMs' in result.next) {
        const { org, eventId, subscriptionUid, traceparent } = delivery;
        const { delayMs } = result.next;
        this.handOver.add([{ deliveryId: delivery.id, org, eventId, subscriptionUid, traceparent, lost: false, delayMs }]);
      } else if (state === 'pending' && 'delayMs' in result.next && result.next.delayMs < SHORT_RETRY_MS) {
        // The database's clock decides: a moment later it is due there, too.
        clock.after(result.next.delayMs + 2, () => this.fetcher.due([delivery.subscriptionUid]));
      }
    });
  }
}
