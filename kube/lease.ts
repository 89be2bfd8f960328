import { sleep, systemClock, type Clock } from '../platform/clock.ts';
import { errorMessageOf } from '../platform/caught.ts';
import type { Logger } from '../platform/logging.ts';
import { KubeError } from './error.ts';
import { heldBy, LeaseObserver, released, type Lease, type LeaseSpec } from './lease-record.ts';
import type { ResourceClient } from './resource-client.ts';
import type { Stored } from './types.ts';

export interface LeaderElectorOptions {
  readonly client: Pick<ResourceClient<Lease>, 'get' | 'create' | 'update'>;
  readonly namespace: string;
  /** Name of the Lease; candidates of one name exclude each other. */
  readonly name: string;
  /** Identity of this candidate; no two that live at the same time may share one. */
  readonly identity: string;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly logger?: Logger;
}

/** How long the holder goes on without a renewal that succeeded, in milliseconds; less than `LEASE_MS`. */
const RENEW_MS = 10_000;
/** Time between two renewals, and between two looks of a candidate, in milliseconds; less than {@link RENEW_MS}. */
const RETRY_MS = 2_000;

export interface LeadOptions {
  /**
   * The leader's work. `signal` aborts when leadership is lost or the caller wants to stop; the work then has `LEASE_MS - RENEW_MS` to end
   * before another candidate may begin. When it returns by itself, the lease is released and `run` resolves; what it throws, `run` throws.
   */
  readonly onStarted: (signal: AbortSignal) => Promise<void>;
  /** Ends the candidacy: the work is aborted, awaited, and the lease released. */
  readonly signal: AbortSignal;
}

export class LeadershipLostError extends Error {
  override readonly name = 'LeadershipLostError';
}

/**
 * Leader election on a Lease, by client-go's protocol: candidates of both can share a lease.
 *
 * At most one leader: a holder stops at `RENEW_MS` after it *sent* its last successful renewal; others begin at the earliest `LEASE_MS` after
 * they *saw* it. Both count on clocks of their own that never jump. Work that goes on after its signal voids the promise.
 */
export class LeaderElector {
  readonly #options: LeaderElectorOptions;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #observer = new LeaseObserver();
  #stored: Stored<Lease> | undefined;
  #troubled = false;
  /** This process has tried to write itself into the lease. */
  #reached = false;

  constructor(options: LeaderElectorOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
  }

  /** Runs for leader, leads, and runs again after a loss, until `signal` aborts. An API server that can't be reached never ends it. */
  async run({ onStarted, signal }: LeadOptions): Promise<void> {
    while (!signal.aborted) {
      const renewedAt = await this.#acquire(signal);
      // Stopped on the way: what was sent may have reached the server all the same.
      if (signal.aborted) return this.#reached ? this.#release() : undefined;
      if (renewedAt === undefined) return;
      const lost = await this.#lead(renewedAt, onStarted, signal);
      if (!lost) return;
    }
  }

  /** The monotonic time from which the lease counts; `undefined` when aborted. */
  async #acquire(signal: AbortSignal): Promise<number | undefined> {
    while (!signal.aborted) {
      const sentAt = this.#clock.monotonic();
      if (await this.#tryAcquire(signal)) return sentAt;
      // It looks sooner where the lease runs out sooner; never later than RETRY_MS, which bounds the time of a takeover.
      const untilFree = this.#observer.freeIn(this.#clock.monotonic());
      const pause = RETRY_MS * (1 - 0.2 * this.#random());
      await this.#sleep(untilFree > 0 ? Math.min(pause, untilFree) : pause, signal);
    }
    return undefined;
  }

  async #tryAcquire(signal: AbortSignal): Promise<boolean> {
    const { identity, logger } = this.#options;
    try {
      this.#stored = await this.#read(signal);
      const spec = this.#stored?.spec;
      this.#observer.observe(spec, this.#clock.monotonic());
      if (spec?.holderIdentity !== identity && this.#observer.freeIn(this.#clock.monotonic()) > 0) {
        this.#calm();
        return false;
      }
      this.#reached = true;
      await this.#write(signal);
      this.#calm();
      logger?.info({ lease: this.#name, identity }, 'this process leads');
      return true;
    } catch (error) {
      if (!signal.aborted) this.#trouble(error, 'failed to acquire the lease; retrying');
      return false;
    }
  }

  /** @returns whether leadership was lost; false when the work is over or the caller stopped it. */
  async #lead(renewedAt: number, onStarted: LeadOptions['onStarted'], signal: AbortSignal): Promise<boolean> {
    const ended = new AbortController();
    let lost = false;
    const lose = (): void => {
      lost = true;
      this.#options.logger?.error(
        { lease: this.#name },
        'lost leadership: another candidate holds the lease, or it was not renewed in time',
      );
      ended.abort(new LeadershipLostError(`the lease ${this.#name} was not renewed for ${RENEW_MS} ms, or another candidate holds it`));
    };
    const onStop = (): void => ended.abort(signal.reason);
    signal.addEventListener('abort', onStop, { once: true });
    const keeping = this.#keep(renewedAt, ended.signal, lose);
    try {
      await onStarted(ended.signal);
    } catch (error) {
      // Aborted work often ends by throwing; only what it throws by itself is a failure.
      if (!ended.signal.aborted) throw error;
      this.#options.logger?.debug({ err: error, lease: this.#name }, "the leader's work ended with an error after it was aborted");
    } finally {
      ended.abort();
      signal.removeEventListener('abort', onStop);
      await keeping;
      if (!lost) await this.#release();
    }
    return lost;
  }

  /** Renews until `ended` aborts, and calls `lose` when no renewal has succeeded for `RENEW_MS`. */
  async #keep(renewedAt: number, ended: AbortSignal, lose: () => void): Promise<void> {
    // The deadline has a timer of its own outside the loop: a request that hangs must not put it off.
    let deadline = this.#clock.after(renewedAt + RENEW_MS - this.#clock.monotonic(), lose);
    while (!ended.aborted) {
      await this.#sleep(RETRY_MS, ended);
      if (ended.aborted) break;
      const sentAt = this.#clock.monotonic();
      const outcome = await this.#renew(ended);
      if (ended.aborted) break;
      if (outcome === 'failed') continue;
      deadline.cancel();
      if (outcome === 'taken') lose();
      else deadline = this.#clock.after(sentAt + RENEW_MS - this.#clock.monotonic(), lose);
    }
    deadline.cancel();
  }

  async #renew(signal: AbortSignal): Promise<'renewed' | 'failed' | 'taken'> {
    try {
      await this.#write(signal);
      this.#calm();
      return 'renewed';
    } catch (error) {
      if (signal.aborted) return 'failed';
      this.#trouble(error, 'failed to renew the lease; retrying');
      if (!(error instanceof KubeError) || !(error.notFound || error.code === 409)) return 'failed';
    }
    // Someone wrote it: a person who edited a label, this process in a request whose answer was lost, or another holder.
    try {
      this.#stored = await this.#read(signal);
      const holder = this.#stored?.spec?.holderIdentity;
      return holder === undefined || holder === '' || holder === this.#options.identity ? 'failed' : 'taken';
    } catch {
      return 'failed';
    }
  }

  async #release(): Promise<void> {
    const { client, identity, logger } = this.#options;
    try {
      // The record is read again: a renewal that was cut off may have reached the server.
      const before = await this.#read(undefined);
      if (before?.spec?.holderIdentity !== identity) return;
      this.#stored = await client.update({ ...before, spec: released(before.spec, this.#clock.now()) }, { timeoutMs: RETRY_MS });
      logger?.info({ lease: this.#name }, 'lease released');
    } catch (err) {
      logger?.warn({ err, lease: this.#name }, 'failed to release the lease; it expires by itself');
    }
  }

  async #read(signal: AbortSignal | undefined): Promise<Stored<Lease> | undefined> {
    const { client, namespace, name } = this.#options;
    try {
      return await client.get({ namespace, name }, { timeoutMs: RENEW_MS / 2, ...(signal ? { signal } : {}) });
    } catch (error) {
      if (error instanceof KubeError && error.notFound) return undefined;
      throw error;
    }
  }

  /** Writes this process into the record that was last read; the resourceVersion in it lets only one of two candidates succeed. */
  async #write(signal: AbortSignal): Promise<void> {
    const { client, namespace, name, identity } = this.#options;
    const before = this.#stored;
    const spec: LeaseSpec = heldBy(identity, { before: before?.spec, now: this.#clock.now() });
    const options = { timeoutMs: RENEW_MS / 2, signal };
    this.#stored = before
      ? await client.update({ ...before, spec }, options)
      : await client.create({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { namespace, name }, spec }, options);
    this.#observer.observe(this.#stored.spec, this.#clock.monotonic());
  }

  async #sleep(ms: number, signal: AbortSignal): Promise<void> {
    await sleep(this.#clock, ms, signal).catch(() => undefined);
  }

  get #name(): string {
    return `${this.#options.namespace}/${this.#options.name}`;
  }

  /** Logs one line when trouble begins, and one when it is over. */
  #trouble(error: unknown, what: string): void {
    const cause = errorMessageOf(error);
    // Two candidates may reach for a free lease at once: one of them loses, as it should.
    const ordinary = error instanceof KubeError && error.code === 409;
    this.#options.logger?.[this.#troubled || ordinary ? 'debug' : 'warn']({ lease: this.#name, cause }, what);
    this.#troubled ||= !ordinary;
  }

  #calm(): void {
    if (this.#troubled) this.#options.logger?.info({ lease: this.#name }, 'the lease can be reached again');
    this.#troubled = false;
  }
}
