import { systemClock, type Clock } from '../platform/clock.ts';
import { errorMessageOf } from '../platform/caught.ts';
import type { Logger } from '../platform/logging.ts';
import { backoffDelay } from '../platform/backoff.ts';
import { LruMap } from '../platform/lru.ts';
import { retry } from '../platform/retry.ts';
import { KubeError } from './error.ts';
import { eventOf, seriesKey, type EventInput, type KubeEvent } from './event-record.ts';
import { microTime } from './timestamps.ts';
import type { Transport } from './transport.ts';
import type { KubeObject } from './types.ts';

export type { EventInput } from './event-record.ts';

export interface EventRecorderOptions {
  readonly transport: Pick<Transport, 'request'>;
  /** `reportingController`: a qualified name, e.g. `example.com/operator`. */
  readonly controller: string;
  /** `reportingInstance`: this process, e.g. its pod's name. */
  readonly instance: string;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly logger?: Logger;
}

/** One thing said of one object, once or again and again. */
interface Series {
  readonly event: KubeEvent;
  /** Whether the series is on the server, as far as is known. */
  created: boolean;
  count: number;
  lastObserved: number;
  /** Whether the series waits to be sent. */
  queued: boolean;
}

/** Limits like client-go's: one object may be talked about 25 times in a row, then once in five minutes. */
const perObject = { burst: 25, refillMs: 300_000, maxKeys: 4096 };
const MAX_SERIES = 4096;
const MAX_QUEUED = 1000;
/** Milliseconds after which the same thing, said again, is a new event. */
const SERIES_ENDS_AFTER_MS = 360_000;
const MAX_ATTEMPTS = 4;
const REQUEST_TIMEOUT_MS = 10_000;
const BACKOFF = { baseMs: 500, maxMs: 5_000 };

/**
 * Reports, through `events.k8s.io/v1` Events, what happened to an object. Never throws and never waits: an event that can't be sent is lost,
 * with a line in the log. The same thing said again counts up the event that is there (`series`).
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #clock: Clock;
  readonly #random: () => number;
  /** Each series by its {@link seriesKey}. */
  readonly #series = new LruMap<string, Series>(MAX_SERIES);
  readonly #buckets = new TokenBuckets<string>(perObject);
  readonly #queue: Series[] = [];
  #sending: Promise<void> | undefined;
  #troubled = false;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
  }

  /** Returns at once. The object needs `apiVersion`, `kind` and its metadata. */
  record(object: KubeObject, input: EventInput): void {
    try {
      this.#record(object, input);
    } catch (error) {
      this.#lost(error);
    }
  }

  /** Resolves when everything recorded so far has been sent or given up. */
  async flush(): Promise<void> {
    while (this.#sending) await this.#sending;
  }

  #record(object: KubeObject, input: EventInput): void {
    const now = this.#clock.monotonic();
    const series = this.#seriesOf(object, input, now);
    series.count++;
    series.lastObserved = now;
    if (series.queued) return;
    const { kind, metadata } = object;
    if (
      !this.#buckets.take(JSON.stringify([kind, metadata.namespace, metadata.name, metadata.uid]), now) ||
      this.#queue.length >= MAX_QUEUED
    ) {
      // What is counted is not lost: the next one of the series that may be sent brings the sum.
      return;
    }
    series.queued = true;
    this.#queue.push(series);
    this.#sending ??= this.#sendAll();
  }

  #seriesOf(object: KubeObject, input: EventInput, now: number): Series {
    const key = seriesKey(object, input);
    const known = this.#series.get(key);
    const current = known && now - known.lastObserved < SERIES_ENDS_AFTER_MS ? known : this.#begin(object, input, now);
    this.#series.set(key, current);
    return current;
  }

  #begin(object: KubeObject, input: EventInput, now: number): Series {
    const { controller, instance } = this.#options;
    const wall = this.#clock.now();
    // The suffix has time and chance: two processes, or one that restarts, may speak of one object in the same millisecond.
    const suffix =
      wall.toString(16) +
      Math.floor(this.#random() * 0x1_0000_0000)
        .toString(16)
        .padStart(8, '0');
    const event = eventOf(object, input, { controller, instance, now: wall, suffix });
    return { event, created: false, count: 0, lastObserved: now, queued: false };
  }

  async #sendAll(): Promise<void> {
    // It begins after the caller's turn, so that what the caller records in one go is counted before it is sent.
    await Promise.resolve();
    for (let series = this.#queue.shift(); series !== undefined; series = this.#queue.shift()) {
      series.queued = false;
      await this.#send(series);
    }
    this.#sending = undefined;
  }

  async #send(series: Series): Promise<void> {
    const delayMs = (error: unknown, failures: number): number | undefined => {
      if (!(error instanceof KubeError) || failures === MAX_ATTEMPTS) return undefined;
      const isExpired = error.notFound && series.created; // its time to live is over: start again
      if (isExpired) series.created = false;
      if (!isExpired && !error.retryable) return undefined;
      return Math.min(error.retryAfterMs ?? backoffDelay(failures, { ...BACKOFF, random: this.#random }), BACKOFF.maxMs);
    };
    try {
      await retry(() => this.#sendOnce(series), { delayMs, clock: this.#clock });
      this.#troubled = false;
    } catch (error) {
      this.#lost(error);
    }
  }

  async #sendOnce(series: Series): Promise<void> {
    const { transport } = this.#options;
    const { metadata } = series.event;
    const path = `/apis/events.k8s.io/v1/namespaces/${encodeURIComponent(metadata.namespace ?? 'default')}/events`;
    const happenedAt = this.#clock.now() - (this.#clock.monotonic() - series.lastObserved);
    const repeated = series.count > 1 ? { series: { count: series.count, lastObservedTime: microTime(happenedAt) } } : {};
    if (series.created) {
      const query = { fieldManager: this.#options.controller };
      await transport.request({
        method: 'PATCH',
        path: `${path}/${encodeURIComponent(metadata.name)}`,
        query,
        body: repeated,
        contentType: 'application/merge-patch+json',
        timeoutMs: REQUEST_TIMEOUT_MS,
        idempotent: true,
      });
      return;
    }
    try {
      await transport.request({ method: 'POST', path, body: { ...series.event, ...repeated }, timeoutMs: REQUEST_TIMEOUT_MS });
    } catch (error) {
      // The answer to an earlier attempt was lost, not the event.
      if (!(error instanceof KubeError && error.reason === 'AlreadyExists')) throw error;
    }
    series.created = true;
  }

  /** Logs the first of a row of failures only. */
  #lost(error: unknown): void {
    const cause = errorMessageOf(error);
    this.#options.logger?.[this.#troubled ? 'debug' : 'warn']({ cause }, 'failed to record an event');
    this.#troubled = true;
  }
}

interface TokenBucketsOptions {
  /** Tokens of a full bucket: every bucket starts full. */
  readonly burst: number;
  /** One token comes back every so many milliseconds. */
  readonly refillMs: number;
  /** Buckets held at most; the one that was used longest ago makes room, and would start full again. */
  readonly maxKeys: number;
}

class TokenBuckets<K> {
  readonly #options: TokenBucketsOptions;
  readonly #buckets: LruMap<K, { readonly tokens: number; readonly at: number }>;

  constructor(options: TokenBucketsOptions) {
    this.#options = options;
    this.#buckets = new LruMap(options.maxKeys);
  }

  /** Takes a token of `key` at `now`, monotonic milliseconds. @returns whether there was one. */
  take(key: K, now: number): boolean {
    const { burst, refillMs } = this.#options;
    const known = this.#buckets.get(key) ?? { tokens: burst, at: now };
    const tokens = Math.min(burst, known.tokens + (now - known.at) / refillMs);
    const enough = tokens >= 1;
    this.#buckets.set(key, { tokens: enough ? tokens - 1 : tokens, at: now });
    return enough;
  }
}
