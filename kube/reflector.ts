import { sleep, systemClock, type Clock } from '../platform/clock.ts';
import { toError } from '../platform/caught.ts';
import type { Logger } from '../platform/logging.ts';
import { backoffDelay } from '../platform/backoff.ts';
import type { CacheChange, WatchCache } from './cache.ts';
import { KubeError } from './error.ts';
import { OpenWatch } from './open-watch.ts';
import { Pacer } from '../platform/pacer.ts';
import { initialState, transition, type EventIn, type ReflectorState } from './reflector-state.ts';
import type { ResourcePage, ResourceClient, WatchOptions } from './resource-client.ts';
import { compareResourceVersions } from './resource-version.ts';
import { keyOf, type KubeObject, type ObjectKey, type Stored } from './types.ts';
import type { WatchEvent } from './watch-stream.ts';

/** The part of a {@link ResourceClient} that a reflector needs. */
export type WatchSource<T extends KubeObject> = Pick<ResourceClient<T>, 'list' | 'watch'>;

export interface ReflectorOptions<T extends KubeObject> {
  readonly client: WatchSource<T>;
  readonly cache: WatchCache<T>;
  /** Called for every change after it is in the cache, in order; the next one waits until it has returned. */
  readonly onChanges: (changes: readonly CacheChange<Stored<T>>[], context: { readonly initial: boolean }) => Promise<void> | void;
  /** Returns what is kept of each object. An object for which it throws is left out. */
  readonly transform: (object: Stored<T>) => Stored<T>;
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: (() => number) | undefined;
  readonly logger?: Logger | undefined;
  readonly observer?: ReflectorObserver | undefined;
}

export interface ReflectorObserver {
  listed(mode: 'watch-list' | 'pages', outcome: 'synced' | 'failed'): void;
  watchOver(outcome: 'ended' | 'broken' | 'expired'): void;
}

/** Objects per page where a WatchList can't be had. */
const PAGE_LIMIT = 500;
/** The server sends a bookmark about once a minute: a watch that is silent for three has lost its connection, or the server its history. */
const SILENT_WATCH_MS = 180_000;
/** A listing that sends nothing for this long, in milliseconds, is not going to. */
const SILENT_LIST_MS = 60_000;
const backoffOptions = { baseMs: 800, maxMs: 30_000 };
/** Answers to a WatchList that say nothing about WatchLists: the same would be said to a listing by pages. */
const NOT_ABOUT_WATCH_LIST = new Set([401, 403, 404, 408, 410, 429]);

/**
 * Keeps a cache equal to what the API server has, for as long as it runs: lists, watches, and begins again where either breaks.
 * No answer of the server ends it; only {@link run}'s signal does.
 */
export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>;
  readonly #clock: Clock;
  readonly #random: () => number;
  /** The stream of a WatchList that is complete: the watch goes on with it. */
  #open: OpenWatch<T> | undefined;
  #lastContact: number | undefined;
  #lastError: KubeError | undefined;
  #state: ReflectorState = initialState;
  /** Ends what is open or waited for, without ending the run. */
  #reconnecting = new AbortController();

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
  }

  get state(): ReflectorState {
    return this.#state;
  }

  /** Milliseconds since the server last sent anything; `Infinity` when it never did. */
  get lastContact(): number {
    return this.#lastContact === undefined ? Infinity : this.#clock.monotonic() - this.#lastContact;
  }

  /** A watch is open, behind a complete listing. */
  get connected(): boolean {
    return this.#state.name === 'watching' && this.#open !== undefined;
  }

  /** Gives up the present connection, attempt or wait, and goes on at once. */
  reconnect(): void {
    this.#reconnecting.abort(new Error('reconnecting'));
  }

  /** Resolves once `signal` has aborted and nothing is open any more. To be called once. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      while (this.#state.name !== 'stopped') {
        const state = this.#state;
        // One effect per state; each ends in exactly one of the events that its state allows.
        if (signal.aborted) this.#state = transition(state, { type: 'stop' });
        else if (state.name === 'listing') this.#state = transition(state, await this.#list(state.mode, signal));
        else if (state.name === 'watching') this.#state = transition(state, await this.#watch(state.resourceVersion, signal));
        else this.#state = transition(state, await this.#wait(state.failures, signal));
      }
    } finally {
      this.#closeWatch();
    }
  }

  async #list(mode: 'watch-list' | 'pages', signal: AbortSignal): Promise<EventIn<'listing'>> {
    const initial = !this.#options.cache.synced;
    try {
      const { items, resourceVersion } = await (mode === 'pages' ? this.#listPages(signal) : this.#watchList(signal));
      const changes = await this.#options.cache.replace(items, resourceVersion);
      this.#options.observer?.listed(mode, 'synced');
      this.#recovered();
      await this.#options.onChanges(changes, { initial });
      return { type: 'synced', resourceVersion };
    } catch (thrown) {
      this.#closeWatch();
      if (signal.aborted) return { type: 'stop' };
      const error = asKubeError(thrown);
      if (mode === 'watch-list' && saysNoWatchList(error)) {
        this.#options.logger?.info({ reason: error.message }, 'the server does not stream listings; listing by pages');
        return { type: 'unsupported' };
      }
      this.#options.observer?.listed(mode, 'failed');
      this.#report(error, 'failed to list; retrying');
      return { type: 'failed' };
    }
  }

  async #listPages(signal: AbortSignal): Promise<Listed<T>> {
    const pacer = new Pacer();
    const items: Stored<T>[] = [];
    let page: ResourcePage<T> | undefined;
    do {
      const position = page?.continue === undefined ? {} : { continue: page.continue };
      page = await this.#options.client.list({ ...this.#scope(), ...position, limit: PAGE_LIMIT, signal });
      this.#heard();
      for (const item of page.items) {
        if (pacer.due) await pacer.pause();
        const kept = this.#keep(item);
        if (kept) items.push(kept);
      }
    } while (page.continue !== undefined);
    return { items, resourceVersion: page.resourceVersion };
  }

  async #watchList(signal: AbortSignal): Promise<Listed<T>> {
    const watch = await this.#openWatch({ sendInitialEvents: true }, SILENT_LIST_MS, signal);
    const items = new Map<ObjectKey, Stored<T>>();
    for (;;) {
      const event = await watch.next();
      if (event === undefined)
        throw new KubeError({ code: 0, reason: 'Incomplete', message: 'the server ended a WatchList before it was complete' });
      if (event.type === 'BOOKMARK') {
        if (!event.initialEventsEnd) continue;
        watch.silentMs = SILENT_WATCH_MS;
        return { items: [...items.values()], resourceVersion: event.resourceVersion };
      }
      // A server whose cache was behind sends what it held, then what happened since, and only then the end of the listing.
      const kept = event.type === 'DELETED' ? undefined : this.#keep(event.object);
      if (kept) items.set(keyOf(kept), kept);
      else items.delete(keyOf(event.object));
    }
  }

  async #watch(from: string, signal: AbortSignal): Promise<EventIn<'watching'>> {
    let resourceVersion = from;
    let openedAt: number | undefined;
    let outcome: 'ended' | 'broken' | 'expired' = 'ended';
    try {
      const watch = this.#open ?? (await this.#openWatch({ resourceVersion }, SILENT_WATCH_MS, signal));
      openedAt = this.#clock.monotonic();
      this.#recovered();
      for (let event = await watch.next(); event !== undefined; event = await watch.next()) {
        const position = event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion;
        // History only goes forward. If it doesn't, the store behind the server was replaced (a restored backup) and every position in it is void.
        if (compareResourceVersions(position, resourceVersion) < 0)
          throw expiredError(`the server went back from ${resourceVersion} to ${position}`);
        await this.#take(event, position);
        resourceVersion = position;
      }
    } catch (thrown) {
      if (!signal.aborted) {
        const error = asKubeError(thrown);
        // A server that went back while no watch was open sends nothing until it has reached the position again, and then only what is new.
        outcome = isExpired(error) || error.reason === 'Silent' ? 'expired' : 'broken';
        this.#report(
          error,
          outcome === 'expired' ? 'the resourceVersion of the watch may be void; listing again' : 'the watch failed; retrying',
        );
      }
    } finally {
      this.#closeWatch();
    }
    if (signal.aborted) return { type: 'stop' };
    this.#options.observer?.watchOver(outcome);
    return { type: outcome, resourceVersion, aliveMs: openedAt === undefined ? 0 : this.#clock.monotonic() - openedAt };
  }

  async #wait(failures: number, signal: AbortSignal): Promise<EventIn<'backoff'>> {
    const delay = Math.max(
      backoffDelay(failures, { ...backoffOptions, random: this.#random }),
      Math.min(this.#lastError?.retryAfterMs ?? 0, backoffOptions.maxMs),
    );
    try {
      await sleep(this.#clock, delay, AbortSignal.any([signal, this.#reconnecting.signal]));
    } catch {
      if (signal.aborted) return { type: 'stop' };
    }
    // One request skips one wait: what fails again waits again.
    if (this.#reconnecting.signal.aborted) this.#reconnecting = new AbortController();
    return { type: 'elapsed' };
  }

  async #take(event: WatchEvent<T>, position: string): Promise<void> {
    const { cache, onChanges } = this.#options;
    const changes = event.type === 'BOOKMARK' ? [] : this.#write(event);
    cache.advanceTo(position);
    if (changes.length > 0) await onChanges(changes, { initial: false });
  }

  #write(event: Exclude<WatchEvent<T>, { type: 'BOOKMARK' }>): readonly CacheChange<Stored<T>>[] {
    const { cache } = this.#options;
    const object = this.#keep(event.object);
    if (event.type === 'DELETED' || object === undefined) return cache.remove(keyOf(event.object), object);
    return cache.put(object);
  }

  #keep(object: Stored<T>): Stored<T> | undefined {
    try {
      return this.#options.transform(object);
    } catch (err) {
      // Kept as it came it might hold what the transform is there to drop.
      this.#options.logger?.error({ err, key: keyOf(object) }, 'failed to transform an object; leaving it out');
      return undefined;
    }
  }

  async #openWatch(
    position: Pick<WatchOptions, 'resourceVersion' | 'sendInitialEvents'>,
    silentMs: number,
    signal: AbortSignal,
  ): Promise<OpenWatch<T>> {
    // The timeouts are spread out, so that not all watches of all replicas restart at once.
    const timeoutSeconds = Math.round(300 + this.#random() * 300);
    const watch = await OpenWatch.open(
      this.#options.client,
      { ...position, ...this.#scope(), timeoutSeconds, signal: AbortSignal.any([signal, this.#reconnecting.signal]) },
      { clock: this.#clock, silentMs, onContact: () => this.#heard() },
    );
    this.#open = watch;
    return watch;
  }

  #closeWatch(): void {
    this.#open?.close();
    this.#open = undefined;
  }

  #scope(): Pick<WatchOptions, 'namespace' | 'labelSelector'> {
    const { namespace, labelSelector } = this.#options;
    return { ...(namespace === undefined ? {} : { namespace }), ...(labelSelector === undefined ? {} : { labelSelector }) };
  }

  #heard(): void {
    this.#lastContact = this.#clock.monotonic();
  }

  /** The same failure again and again is one line in the log, and its end another. */
  #report(error: KubeError, what: string): void {
    const known = this.#lastError?.code === error.code && this.#lastError.reason === error.reason;
    if (!isExpired(error)) this.#lastError = error;
    const level = known || isExpired(error) ? 'debug' : 'warn';
    this.#options.logger?.[level]({ code: error.code, reason: error.reason, cause: error.message }, what);
  }

  #recovered(): void {
    if (this.#lastError) this.#options.logger?.info('in contact with the API server again');
    this.#lastError = undefined;
  }
}

interface Listed<T extends KubeObject> {
  readonly items: readonly Stored<T>[];
  readonly resourceVersion: string;
}

function asKubeError(thrown: unknown): KubeError {
  if (thrown instanceof KubeError) return thrown;
  const error = toError(thrown);
  return new KubeError({ code: 0, reason: error.name, message: error.message, cause: error });
}

function expiredError(message: string): KubeError {
  return new KubeError({ code: 410, reason: 'Expired', message });
}

function isExpired(error: KubeError): boolean {
  return error.code === 410 || error.reason === 'Expired' || error.reason === 'Gone';
}

/** 4xx: the request isn't understood. 500 in the stream: its etcd is older than 3.5 and can't report its progress. */
function saysNoWatchList(error: KubeError): boolean {
  if (error.code === 500) return error.message.includes('RequestWatchProgress');
  return error.code >= 400 && error.code < 500 && !NOT_ABOUT_WATCH_LIST.has(error.code);
}
