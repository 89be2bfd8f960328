/** The trunks and rules that the media server has, listed as a whole at intervals. */
import { SipError } from '../../calls/sip/sip-error.ts';
import type { Ownership, SipSpec } from '../../calls/sip/trunk-specs.ts';
import type { SipThing, SipTrunks } from '../../calls/sip/trunks.ts';
import type { Clock, Timer } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import type { SipView } from './view.ts';

export interface TrunkCacheOptions {
  readonly trunks: SipTrunks;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Time between two listings, in milliseconds. A trunk that the media server loses is created again after the next one. */
  readonly pollMs: number;
}

type State =
  | { readonly state: 'unread' }
  | { readonly state: 'known' }
  | { readonly state: 'without_redis' }
  | { readonly state: 'unavailable'; readonly why: string; readonly login: boolean };

/** After a listing that failed, reconciles don't wait for another one so soon, in milliseconds: one hanging server must not hang every number. */
const FAILURE_PAUSE_MS = 5_000;

export class TrunkCache {
  readonly #options: TrunkCacheOptions;
  #state: State = { state: 'unread' };
  readonly #byUid = new Map<string, Map<string, SipThing>>();
  readonly #byNumber = new Map<string, Map<string, SipThing>>();
  readonly #refusals = new Map<string, { readonly attempt: string; readonly message: string }>();
  /** Uids of PhoneNumbers that asked while the state was unknown. */
  readonly #waiting = new Set<string>();
  readonly #byId = new Map<string, SipThing>();
  /** Changes made while a listing was under way, which may lack them. */
  #journal: (() => void)[] | undefined;
  #listing: Promise<void> | undefined;
  #failedAt = -Infinity;
  #timer: Timer | undefined;
  #onChanged: (uids: ReadonlySet<string>) => void = () => undefined;

  constructor(options: TrunkCacheOptions) {
    this.#options = options;
  }

  /**
   * Lists at intervals, until the returned function is called.
   *
   * @param onChanged - gets the numbers, by uid, for which something has changed there
   * @param onListed - called after each listing, whatever came of it, to remove what is left behind; a failure is logged
   */
  poll(onChanged: (uids: ReadonlySet<string>) => void, onListed: () => Promise<void> = async () => undefined): () => void {
    const { clock, pollMs } = this.#options;
    this.#onChanged = onChanged;
    let stopped = false;
    const later = (): void => {
      this.#timer = clock.after(pollMs, () => {
        void this.#list()
          .then(onListed)
          .catch((err: unknown) => this.#options.logger.error({ err }, 'failed to remove trunks that were left behind; retrying'))
          .finally(() => {
            if (!stopped) later();
          });
      });
    };
    later();
    return () => {
      stopped = true;
      this.#timer?.cancel();
    };
  }

  async view({ uid, number }: Pick<Ownership, 'uid' | 'number'>): Promise<SipView> {
    const { clock } = this.#options;
    const unsure = this.#state.state === 'unread' || this.#state.state === 'unavailable';
    if (unsure && clock.monotonic() - this.#failedAt >= FAILURE_PAUSE_MS) await this.#list();
    const state = this.#state;
    if (state.state === 'known') {
      const refused = this.#refusals.get(uid);
      return {
        state: 'known',
        own: inOrder(this.#byUid.get(uid)),
        others: inOrder(this.#byNumber.get(number)).filter((thing) => thing.uid !== uid),
        ...(refused && { refused }),
      };
    }
    this.#waiting.add(uid);
    if (state.state === 'without_redis') return state;
    return state.state === 'unavailable' ? state : { state: 'unavailable', why: 'it has not answered yet', login: false };
  }

  /** @returns whether it was done; otherwise the next view says why not */
  create(spec: SipSpec, owner: Ownership, attempt: string): Promise<boolean> {
    return this.#change(owner, attempt, async () => this.#put(await this.#options.trunks.create(spec, owner)));
  }

  /** @returns as {@link create} does */
  replace(id: string, spec: SipSpec, owner: Ownership, attempt: string): Promise<boolean> {
    return this.#change(owner, attempt, async () => {
      this.#put(await this.#options.trunks.replace(id, spec, owner));
      this.#retryRefused();
    });
  }

  /** @returns as {@link create} does */
  remove(thing: Pick<SipThing, 'kind' | 'id'>, owner: Pick<Ownership, 'uid'>): Promise<boolean> {
    return this.#change(owner, thing.id, async () => {
      await this.#options.trunks.remove(thing);
      this.#drop(thing.id);
      this.#retryRefused();
    });
  }

  /**
   * Returns the trunks and rules that should have gone with their PhoneNumber, as far as is known.
   * @param living uids of the PhoneNumbers that are there
   */
  leftBehind(living: ReadonlySet<string>): readonly SipThing[] {
    if (this.#state.state !== 'known') return [];
    return inOrder(this.#byId).filter(({ uid, deletionPolicy }) => deletionPolicy === 'Delete' && !living.has(uid));
  }

  clear(): void {
    this.#state = { state: 'unread' };
    this.#refusals.clear();
    this.#failedAt = -Infinity;
  }

  forget(uid: string): void {
    this.#waiting.delete(uid);
    this.#refusals.delete(uid);
  }

  async #change({ uid }: Pick<Ownership, 'uid'>, attempt: string, change: () => Promise<void>): Promise<boolean> {
    try {
      await change();
      this.#refusals.delete(uid);
      return true;
    } catch (error) {
      if (!(error instanceof SipError)) throw error;
      this.#waiting.add(uid);
      if (error.kind === 'refused') this.#refusals.set(uid, { attempt, message: error.message });
      // Whether it was done is unknown: list again.
      else if (error.kind === 'gone') this.#state = { state: 'unread' };
      else this.#failed(error);
      return false;
    }
  }

  /** Tries again what was refused: what has changed may have been in its way. */
  #retryRefused(): void {
    const refused = new Set(this.#refusals.keys());
    this.#refusals.clear();
    if (refused.size > 0) this.#onChanged(refused);
  }

  #list(): Promise<void> {
    this.#listing ??= this.#read().finally(() => (this.#listing = undefined));
    return this.#listing;
  }

  async #read(): Promise<void> {
    const journal: (() => void)[] = [];
    this.#journal = journal;
    try {
      this.#replaceAll(await this.#options.trunks.list(), journal);
    } catch (error) {
      if (!(error instanceof SipError)) this.#options.logger.error({ err: error }, 'failed to list the trunks of the media server');
      this.#failed(error);
    } finally {
      this.#journal = undefined;
    }
  }

  #replaceAll(things: readonly SipThing[], journal: readonly (() => void)[]): void {
    const { logger } = this.#options;
    const before = new Map([...this.#byUid].map(([uid, own]) => [uid, fingerprintOf(own)]));
    const reachedAgain = this.#state.state !== 'known';
    if (this.#state.state === 'unavailable') logger.info('the media server answers again');
    for (const index of [this.#byUid, this.#byNumber, this.#byId]) index.clear();
    for (const thing of things) this.#index(thing);
    for (const redo of journal) redo();
    this.#state = { state: 'known' };
    const changed = new Set(this.#waiting);
    this.#waiting.clear();
    // What was refused may be possible now: it is tried with every listing, not more often.
    for (const uid of this.#refusals.keys()) changed.add(uid);
    this.#refusals.clear();
    for (const uid of new Set([...before.keys(), ...this.#byUid.keys()]))
      if (before.get(uid) !== fingerprintOf(this.#byUid.get(uid))) changed.add(uid);
    if (changed.size > 0 && !reachedAgain) logger.info({ numbers: changed.size }, 'trunks or rules at the media server have changed');
    if (changed.size > 0) this.#onChanged(changed);
  }

  #failed(error: unknown): void {
    const { logger, clock } = this.#options;
    const refusal = error instanceof SipError ? error : undefined;
    const before = this.#state;
    this.#failedAt = clock.monotonic();
    this.#state =
      refusal?.kind === 'without_redis'
        ? { state: 'without_redis' }
        : { state: 'unavailable', why: refusal?.message ?? 'its answer cannot be understood', login: refusal?.kind === 'login' };
    if (before.state === this.#state.state) return;
    logger.warn({ cause: refusal?.message }, 'failed to list or change trunks at the media server; keeping what is connected');
    // Those that are in step stay so; the others report why they wait.
    this.#onChanged(new Set(this.#byUid.keys()));
  }

  #put(thing: SipThing): void {
    this.#index(thing);
    this.#journal?.push(() => this.#index(thing));
  }

  #drop(id: string): void {
    this.#unindex(id);
    this.#journal?.push(() => this.#unindex(id));
  }

  #index(thing: SipThing): void {
    this.#unindex(thing.id);
    this.#byId.set(thing.id, thing);
    for (const [index, key] of this.#groups(thing)) {
      const group = index.get(key) ?? new Map<string, SipThing>();
      group.set(thing.id, thing);
      index.set(key, group);
    }
  }

  #unindex(id: string): void {
    const thing = this.#byId.get(id);
    if (thing === undefined) return;
    this.#byId.delete(id);
    for (const [index, key] of this.#groups(thing)) {
      const group = index.get(key);
      if (group?.delete(id) === true && group.size === 0) index.delete(key);
    }
  }

  #groups({ uid, number }: SipThing): readonly (readonly [Map<string, Map<string, SipThing>>, string])[] {
    return [
      [this.#byUid, uid],
      [this.#byNumber, number],
    ];
  }
}

function inOrder(things: ReadonlyMap<string, SipThing> | undefined): readonly SipThing[] {
  return [...(things?.values() ?? [])].sort((a, b) => (a.id < b.id ? -1 : 1));
}

function fingerprintOf(things: ReadonlyMap<string, SipThing> | undefined): string {
  return inOrder(things)
    .map(({ id, digest }) => `${id} ${digest}`)
    .join('\n');
}
