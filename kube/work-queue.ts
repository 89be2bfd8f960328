import { Counter, Histogram, type Registry } from 'prom-client';

import { systemClock, type Clock, type Timer } from '../platform/clock.ts';
import { KeyedBackoff } from '../platform/backoff.ts';
import { DelayHeap } from './delay-heap.ts';
import { KeyQueue, type Priority } from './key-queue.ts';
import { Pacer } from '../platform/pacer.ts';
import { SampledGauge } from './sampled-gauge.ts';

export interface WorkQueueOptions {
  /** Label `name` of the metrics. */
  readonly name: string;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly registry?: Registry;
}

export interface WorkQueueAddOptions {
  /** Default: `user`. */
  readonly priority?: Priority;
}

export interface WorkQueueRunOptions<K> {
  /** Keys handled at once, at least 1. */
  readonly concurrency: number;
  /**
   * Handles one key. When it throws, the key comes back after its backoff; when it returns, the key's failures are forgotten, unless
   * it called {@link WorkQueue.addRateLimited} for the key itself.
   */
  readonly handle: (key: K, signal: AbortSignal) => Promise<void>;
  /** Called with what `handle` threw, unless the run was ended meanwhile. */
  readonly onError?: (error: unknown, key: K, failures: number) => void;
  /** Ends this run: no further key is taken, and handlers in flight see it. Keys stay in the queue, for a later run. */
  readonly signal?: AbortSignal;
}

interface Work {
  readonly startedAt: number;
  rateLimited: boolean;
}

/** The bounds of a key's first delay after a failure, and of its longest. */
const backoff = { baseMs: 5, maxMs: 300_000 };

/**
 * Keys to be handled, with client-go's semantics: a key waits at most once however often it is added, is never handled twice at the
 * same time, and is handled once more when it was added while being handled.
 */
export class WorkQueue<K extends string> {
  readonly #clock: Clock;
  readonly #queue = new KeyQueue<K>();
  readonly #delayed = new DelayHeap<K>();
  readonly #delayedPriority = new Map<K, Priority>();
  readonly #backoff: KeyedBackoff<K>;
  readonly #metrics: WorkQueueMetrics;
  readonly #work = new Map<K, Work>();
  /** Workers without a key, each to be woken by one. */
  readonly #sleepers = new Set<() => void>();
  #timer: { readonly at: number; readonly handle: Timer } | undefined;
  #shuttingDown = false;

  constructor(options: WorkQueueOptions) {
    this.#clock = options.clock ?? systemClock;
    this.#backoff = new KeyedBackoff({ ...backoff, random: options.random ?? Math.random });
    this.#metrics = workQueueMetrics({
      registry: options.registry,
      name: options.name,
      depth: () => this.depth,
      unfinished: () => [...this.#work.values()].map(({ startedAt }) => this.#clock.monotonic() - startedAt),
    });
  }

  /** Keys that wait to be handled; those that wait for their time are not counted. */
  get depth(): number {
    return this.#queue.depth;
  }

  failures(key: K): number {
    return this.#backoff.failures(key);
  }

  /** Adds a key that is to be handled. Ignored after {@link shutDown}. */
  add(key: K, options: WorkQueueAddOptions = {}): void {
    if (this.#shuttingDown) return;
    if (!this.#queue.add(key, options.priority ?? 'user', this.#clock.monotonic())) return;
    this.#metrics.added();
    this.#wakeOne();
  }

  /** Adds the key once `ms` milliseconds have passed; asked twice, at the earlier of the two times. */
  addAfter(key: K, ms: number, options: WorkQueueAddOptions = {}): void {
    if (this.#shuttingDown) return;
    if (!(ms > 0)) {
      this.add(key, options);
      return;
    }
    const priority = options.priority ?? 'user';
    const known = this.#delayedPriority.get(key);
    if (known === undefined || priority === 'user' || known === 'resync') this.#delayedPriority.set(key, priority);
    this.#delayed.add(key, this.#clock.monotonic() + ms);
    this.#schedule();
  }

  /** Adds the key after its backoff, which this lengthens. It keeps the priority it is handled under. */
  addRateLimited(key: K): void {
    if (this.#shuttingDown) return;
    const work = this.#work.get(key);
    if (work) work.rateLimited = true;
    this.#metrics.retried();
    this.addAfter(key, this.#backoff.fail(key), { priority: this.#queue.processing(key) ?? 'user' });
  }

  /** Forgets the key's failures: its next backoff is the shortest again. */
  forget(key: K): void {
    this.#backoff.forget(key);
  }

  /** Handles keys until the queue is shut down and empty, or `signal` aborts; resolves when no handler is in flight any more. */
  async run(options: WorkQueueRunOptions<K>): Promise<void> {
    const { concurrency } = options;
    if (!Number.isInteger(concurrency) || concurrency < 1)
      throw new RangeError(`concurrency must be a whole number of at least 1, not ${concurrency}`);
    const signal = options.signal ?? new AbortController().signal;
    const wake = (): void => this.#wakeAll();
    signal.addEventListener('abort', wake, { once: true });
    try {
      await Promise.all(Array.from({ length: concurrency }, () => this.#worker(options, signal)));
    } finally {
      signal.removeEventListener('abort', wake);
    }
  }

  /** Takes no more keys and drops those that wait for their time. Runs end when what is in the queue has been handled. Idempotent. */
  shutDown(): void {
    this.#shuttingDown = true;
    this.#delayed.clear();
    this.#delayedPriority.clear();
    this.#timer?.handle.cancel();
    this.#timer = undefined;
    this.#wakeAll();
  }

  async #worker(options: WorkQueueRunOptions<K>, signal: AbortSignal): Promise<void> {
    const pacer = new Pacer();
    while (!signal.aborted) {
      // With keys always at hand and handlers that never wait for I/O, nothing else would get its turn.
      if (pacer.due) await pacer.pause();
      const next = this.#queue.take();
      if (next) {
        this.#metrics.taken(this.#clock.monotonic() - next.waitedSince);
        await this.#handle(next.key, options, signal);
      } else if (this.#shuttingDown) {
        return;
      } else {
        await new Promise<void>((resolve) => this.#sleepers.add(resolve));
      }
    }
    // This worker may have been woken for a key that it leaves behind.
    if (this.depth > 0) this.#wakeOne();
  }

  async #handle(key: K, options: WorkQueueRunOptions<K>, signal: AbortSignal): Promise<void> {
    const work: Work = { startedAt: this.#clock.monotonic(), rateLimited: false };
    this.#work.set(key, work);
    try {
      await options.handle(key, signal);
      if (!work.rateLimited) this.forget(key);
    } catch (error) {
      // Cut off rather than failed: the key stays for a later run, with nothing held against it.
      if (signal.aborted) this.add(key, { priority: this.#queue.processing(key) ?? 'user' });
      else this.#failed(key, error, work, options);
    } finally {
      this.#work.delete(key);
      const now = this.#clock.monotonic();
      this.#metrics.finished(now - work.startedAt);
      this.#queue.done(key, now); // added meanwhile, it waits again: for this worker, which looks next
    }
  }

  #failed(key: K, error: unknown, work: Work, { onError }: WorkQueueRunOptions<K>): void {
    if (!work.rateLimited) this.addRateLimited(key);
    try {
      onError?.(error, key, this.failures(key));
    } catch {
      // The failure is counted and the key comes back; a reporter that fails must not cost the queue a worker.
    }
  }

  #wakeOne(): void {
    for (const wake of this.#sleepers) {
      this.#sleepers.delete(wake);
      wake();
      return;
    }
  }

  #wakeAll(): void {
    for (const wake of this.#sleepers) wake();
    this.#sleepers.clear();
  }

  /** Sets the one timer for all keys to the earliest. */
  #schedule(): void {
    const at = this.#delayed.nextAt;
    if (at === undefined || (this.#timer && this.#timer.at <= at)) return;
    this.#timer?.handle.cancel();
    const handle = this.#clock.after(Math.max(0, at - this.#clock.monotonic()), () => {
      this.#timer = undefined;
      const now = this.#clock.monotonic();
      for (let key = this.#delayed.takeDue(now); key !== undefined; key = this.#delayed.takeDue(now)) {
        const priority = this.#delayedPriority.get(key) ?? 'user';
        this.#delayedPriority.delete(key);
        this.add(key, { priority });
      }
      this.#schedule();
    });
    this.#timer = { at, handle };
  }
}

interface WorkQueueMetrics {
  added(): void;
  retried(): void;
  /** A key was handed out after waiting so long, in milliseconds. */
  taken(waitedMs: number): void;
  /** A key was finished after so long, in milliseconds. */
  finished(workedMs: number): void;
}

interface WorkQueueMetricsOptions {
  readonly registry: Registry | undefined;
  readonly name: string;
  readonly depth: () => number;
  /** How long each key in the works has been there, in milliseconds. */
  readonly unfinished: () => readonly number[];
}

/** client-go's bounds: 10 ns to 1,000 s, a power of ten each. */
const buckets = Array.from({ length: 12 }, (_, power) => 10 ** (power - 8));

/** client-go's metrics under their own names, so that existing dashboards and alerts work. Queues share the metrics of one registry. */
function workQueueMetrics(options: WorkQueueMetricsOptions): WorkQueueMetrics {
  const { registry, name } = options;
  if (registry === undefined)
    return { added: () => undefined, retried: () => undefined, taken: () => undefined, finished: () => undefined };
  const labels = { name };
  const counter = (metric: string, help: string): Counter<'name'> =>
    (registry.getSingleMetric(metric) as Counter<'name'> | undefined) ??
    new Counter({ name: metric, help, labelNames: ['name'], registers: [registry] });
  const histogram = (metric: string, help: string): Histogram<'name'> =>
    (registry.getSingleMetric(metric) as Histogram<'name'> | undefined) ??
    new Histogram({ name: metric, help, labelNames: ['name'], buckets, registers: [registry] });
  const sampled = (metric: string, help: string, value: () => number): void => {
    SampledGauge.of(registry, metric, help, ['name']).sample(() => ({ labels, value: value() }));
  };
  const adds = counter('workqueue_adds_total', 'Keys that were added to the queue.');
  const retries = counter('workqueue_retries_total', 'Keys that were added again after a failure.');
  const waits = histogram('workqueue_queue_duration_seconds', 'How long a key waits in the queue before it is handled, in seconds.');
  const works = histogram('workqueue_work_duration_seconds', 'How long the handling of a key takes, in seconds.');
  adds.inc(labels, 0);
  retries.inc(labels, 0);
  sampled('workqueue_depth', 'Keys that wait in the queue.', options.depth);
  sampled(
    'workqueue_unfinished_work_seconds',
    'How long all keys in the works have been there together, in seconds; a rising value is a stuck handler.',
    () => options.unfinished().reduce((sum, ms) => sum + ms / 1000, 0),
  );
  sampled('workqueue_longest_running_processor_seconds', 'How long the oldest key in the works has been there, in seconds.', () =>
    options.unfinished().reduce((longest, ms) => Math.max(longest, ms / 1000), 0),
  );
  return {
    added: () => adds.inc(labels),
    retried: () => retries.inc(labels),
    taken: (ms) => waits.observe(labels, ms / 1000),
    finished: (ms) => works.observe(labels, ms / 1000),
  };
}
