/**
 * Counts here and adds up there: each replica decides from buckets of its own, at once and without asking, and a few times a second the
 * replicas exchange through Postgres what they have let through. Between two exchanges they may let through too many requests together; the
 * excess is taken from the following ones, so that the rate holds in the long run. Without Postgres each replica goes on by itself.
 * docs/adr/0005-rate-limits.md has the reasons.
 */
import type { Clock, Timer } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { LruMap } from '../../platform/lru.ts';
import type { Store } from '../../store/index.ts';
import { costMs, standing, type RateLimit, type Standing } from './bucket.ts';
import { subjectOf, type LimitClass, type LimitedCaller, type LimitedRoute } from './limit-class.ts';

export interface RateLimiterOptions {
  readonly classes: readonly LimitClass[];
  /** Where absent, each replica counts for itself. */
  readonly exchange?: Pick<Store['rateLimits'], 'exchange' | 'forgetFull'>;
  /** Time between two exchanges, in milliseconds; nothing is sent while nothing happens. */
  readonly exchangeMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** One limit as it stands after a request. */
export interface Counted {
  readonly class: LimitClass;
  readonly standing: Standing;
}

export interface RateLimitDecision {
  readonly allowed: boolean;
  /** Every limit that the request counts for. */
  readonly limits: readonly Counted[];
}

interface Bucket {
  readonly subject: string;
  readonly limit: RateLimit;
  /** Time at which it is full again, on the monotonic clock. */
  fullAt: number;
  /** Taken but unreported time, in milliseconds of the bucket's time. */
  unreportedMs: number;
  /** Time at which the first of that was taken. */
  unreportedSince: number;
}

/** Most subjects that are counted at a time. An evicted one starts over, with the other replicas' counts. */
const SUBJECTS = 20_000;
/** Wait after a failed exchange, in milliseconds. */
const RETRY_MS = 2_000;
const FORGET_EVERY_MS = 600_000;

export class RateLimiter {
  readonly #options: RateLimiterOptions;
  readonly #buckets = new LruMap<string, Bucket>(SUBJECTS);
  /** Buckets with something to report. */
  #unreported = new Map<string, Bucket>();
  #timer: Timer | undefined;
  #exchanging: Promise<void> | undefined;
  #failing = false;
  #forgotAt: number;
  #stopped = false;

  constructor(options: RateLimiterOptions) {
    this.#options = options;
    this.#forgotAt = options.clock.monotonic();
  }

  /**
   * Counts one request against all limits if each allows it, else against none.
   * @param charged with `key`, the limits that the organisation's keys share aren't charged
   */
  take(caller: LimitedCaller, route: LimitedRoute, charged: 'all' | 'key' = 'all'): RateLimitDecision {
    const now = this.#options.clock.monotonic();
    const counted = this.#options.classes
      .filter((each) => (charged === 'all' || each.of === charged) && (each.applies === undefined || each.applies(route)))
      .map((each) => ({ class: each, bucket: this.#bucket(subjectOf(each, caller), each.limit) }));
    const allowed = counted.every(({ bucket }) => standing(bucket.limit, bucket.fullAt - now).nextInMs === 0);
    if (allowed) for (const { bucket } of counted) this.#spend(bucket, now);
    return {
      allowed,
      limits: counted.map(({ class: of, bucket }) => ({ class: of, standing: standing(bucket.limit, bucket.fullAt - now) })),
    };
  }

  /** Reports the rest, and ends. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#exchanging;
  }

  #bucket(subject: string, limit: RateLimit): Bucket {
    const known = this.#buckets.get(subject);
    if (known !== undefined) return known;
    const bucket: Bucket = { subject, limit, fullAt: 0, unreportedMs: 0, unreportedSince: 0 };
    this.#buckets.set(subject, bucket);
    return bucket;
  }

  #spend(bucket: Bucket, now: number): void {
    const cost = costMs(bucket.limit);
    bucket.fullAt = Math.max(bucket.fullAt, now) + cost;
    if (this.#options.exchange === undefined) return;
    if (bucket.unreportedMs === 0) bucket.unreportedSince = now;
    // Refilled time need not be reported: a full bucket is the most there can be.
    bucket.unreportedMs = Math.min(bucket.unreportedMs + cost, bucket.limit.burst * cost);
    this.#unreported.set(bucket.subject, bucket);
    this.#exchangeLater(this.#failing ? RETRY_MS : this.#options.exchangeMs);
  }

  #exchangeLater(ms: number): void {
    if (this.#timer !== undefined || this.#exchanging !== undefined || this.#stopped) return;
    this.#timer = this.#options.clock.after(ms, () => {
      this.#timer = undefined;
      this.#exchanging = this.#exchange().finally(() => {
        this.#exchanging = undefined;
        if (this.#unreported.size > 0) this.#exchangeLater(this.#failing ? RETRY_MS : this.#options.exchangeMs);
      });
    });
  }

  async #exchange(): Promise<void> {
    const { exchange, clock, logger } = this.#options;
    if (exchange === undefined) return;
    const sentAt = clock.monotonic();
    const reported = [...this.#unreported.values()].map((bucket) => ({ bucket, ms: bucket.unreportedMs, since: bucket.unreportedSince }));
    this.#unreported = new Map();
    for (const { bucket } of reported) bucket.unreportedMs = 0;
    try {
      const ahead = await exchange.exchange(reported.map(({ bucket: { subject }, ms, since }) => ({ subject, ms, agoMs: sentAt - since })));
      for (const { bucket } of reported) {
        const aheadMs = ahead.get(bucket.subject);
        if (aheadMs === undefined) continue;
        // The time counts from when the request was sent: no client waits longer than its Retry-After. The answer lacks requests of the
        // meantime.
        const fullAt = sentAt + aheadMs;
        bucket.fullAt = bucket.unreportedMs === 0 ? fullAt : Math.max(fullAt, bucket.unreportedSince) + bucket.unreportedMs;
      }
      if (this.#failing) logger.info('request limits are counted together with the other replicas again');
      this.#failing = false;
      if (sentAt - this.#forgotAt < FORGET_EVERY_MS) return;
      this.#forgotAt = sentAt;
      await exchange.forgetFull();
    } catch (err) {
      if (!this.#failing) logger.warn({ err }, 'request limits are counted by this replica alone until the database answers again');
      this.#failing = true;
      for (const { bucket, ms, since } of reported) {
        bucket.unreportedSince = since;
        bucket.unreportedMs = Math.min(bucket.unreportedMs + ms, bucket.limit.burst * costMs(bucket.limit));
        this.#unreported.set(bucket.subject, bucket);
      }
    }
  }
}
