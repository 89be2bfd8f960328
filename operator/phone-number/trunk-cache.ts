/** What the media server has of every number, as this process knows it: looked at as a whole, every now and then. */
import { SipRefusal } from '../../voice/calls/sip/sip-refusal.ts';
import type { Ownership, SipSpec } from '../../voice/calls/sip/trunk-specs.ts';
import type { SipThing, SipTrunks } from '../../voice/calls/sip/trunks.ts';
import type { Clock, Timer } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import type { SipView } from './view.ts';

export interface TrunkCacheOptions {
  readonly trunks: SipTrunks;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Between two looks, in milliseconds. What is lost there is made again after the next. */
  readonly lookEveryMs: number;
  /** Told of the numbers, by uid, for which something has changed there. */
  readonly onChanged: (uids: ReadonlySet<string>) => void;
}

type State =
  | { readonly state: 'unread' }
  | { readonly state: 'known' }
  | { readonly state: 'without_redis' }
  | { readonly state: 'unavailable'; readonly why: string; readonly login: boolean };

/** After a look that led to nothing nobody waits for another one so soon, in milliseconds: one hanging server must not hang every number. */
const PATIENCE_MS = 5_000;

export class TrunkCache {
  readonly #options: TrunkCacheOptions;
  #state: State = { state: 'unread' };
  readonly #byUid = new Map<string, Map<string, SipThing>>();
  readonly #byNumber = new Map<string, Map<string, SipThing>>();
  readonly #refusals = new Map<string, { readonly attempt: string; readonly message: string }>();
  /** Who asked while nothing could be known. */
  readonly #waiting = new Set<string>();
  readonly #byId = new Map<string, SipThing>();
  /** What was done while a list was being read, which may lack it. */
  #journal: (() => void)[] | undefined;
  #looking: Promise<void> | undefined;
  #failedAt = -Infinity;
  #timer: Timer | undefined;

  constructor(options: TrunkCacheOptions) {
    this.#options = options;
  }

  /** Looks again every now and then, until the returned function is called. */
  start(): () => void {
    const { clock, lookEveryMs } = this.#options;
    let stopped = false;
    const later = (): void => {
      this.#timer = clock.after(lookEveryMs, () => {
        void this.#look().finally(() => {
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

  async view({ uid, number }: Ownership): Promise<SipView> {
    const { clock } = this.#options;
    const unsure = this.#state.state === 'unread' || this.#state.state === 'unavailable';
    if (unsure && clock.monotonic() - this.#failedAt >= PATIENCE_MS) await this.#look();
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

  /** @returns whether it was done; otherwise the next view tells why not */
  create(spec: SipSpec, owner: Ownership, attempt: string): Promise<boolean> {
    return this.#change(owner, attempt, async () => this.#put(await this.#options.trunks.create(spec, owner)));
  }

  /** @returns as {@link create} does */
  replace(id: string, spec: SipSpec, owner: Ownership, attempt: string): Promise<boolean> {
    return this.#change(owner, attempt, async () => {
      this.#put(await this.#options.trunks.replace(id, spec, owner));
    });
  }

  /** @returns as {@link create} does */
  remove(thing: Pick<SipThing, 'kind' | 'id'>, owner: Ownership): Promise<boolean> {
    return this.#change(owner, thing.id, async () => {
      await this.#options.trunks.remove(thing);
      this.#drop(thing.id);
      // It may have been in somebody's way.
      this.#refusals.clear();
    });
  }

  /** Nothing that was known counts any more. */
  clear(): void {
    this.#state = { state: 'unread' };
    this.#refusals.clear();
    this.#failedAt = -Infinity;
  }

  /** The object is gone. */
  forget(uid: string): void {
    this.#waiting.delete(uid);
    this.#refusals.delete(uid);
  }

  async #change({ uid }: Ownership, attempt: string, change: () => Promise<void>): Promise<boolean> {
    try {
      await change();
      this.#refusals.delete(uid);
      return true;
    } catch (error) {
      if (!(error instanceof SipRefusal)) throw error;
      this.#waiting.add(uid);
      if (error.kind === 'refused') this.#refusals.set(uid, { attempt, message: error.message });
      // Whether it was done nobody knows: what is there has to be looked at.
      else if (error.kind === 'gone') this.#state = { state: 'unread' };
      else this.#failed(error);
      return false;
    }
  }

  #look(): Promise<void> {
    this.#looking ??= this.#read().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async #read(): Promise<void> {
    const journal: (() => void)[] = [];
    this.#journal = journal;
    try {
      this.#learn(await this.#options.trunks.list(), journal);
    } catch (error) {
      if (!(error instanceof SipRefusal)) this.#options.logger.error({ err: error }, 'what the media server has could not be read');
      this.#failed(error);
    } finally {
      this.#journal = undefined;
    }
  }

  #learn(things: readonly SipThing[], journal: readonly (() => void)[]): void {
    const { logger, onChanged } = this.#options;
    const before = new Map([...this.#byUid].map(([uid, own]) => [uid, printOf(own)]));
    const reachedAgain = this.#state.state !== 'known';
    if (this.#state.state === 'unavailable') logger.info('the media server answers again');
    for (const index of [this.#byUid, this.#byNumber, this.#byId]) index.clear();
    for (const thing of things) this.#enter(thing);
    for (const again of journal) again();
    this.#state = { state: 'known' };
    const changed = new Set(this.#waiting);
    this.#waiting.clear();
    // What was refused may be possible now: it is tried at every look, not more often.
    for (const uid of this.#refusals.keys()) changed.add(uid);
    this.#refusals.clear();
    for (const uid of new Set([...before.keys(), ...this.#byUid.keys()]))
      if (before.get(uid) !== printOf(this.#byUid.get(uid))) changed.add(uid);
    if (changed.size > 0 && !reachedAgain)
      logger.info({ numbers: changed.size }, 'trunks or rules at the media server are not as they were');
    if (changed.size > 0) onChanged(changed);
  }

  #failed(error: unknown): void {
    const { logger, onChanged, clock } = this.#options;
    const refusal = error instanceof SipRefusal ? error : undefined;
    const before = this.#state;
    this.#failedAt = clock.monotonic();
    this.#state =
      refusal?.kind === 'without_redis'
        ? { state: 'without_redis' }
        : { state: 'unavailable', why: refusal?.message ?? 'it gives an answer that nobody understands', login: refusal?.kind === 'login' };
    if (before.state === this.#state.state) return;
    logger.warn({ cause: refusal?.message }, 'the media server cannot be told of phone numbers; what is connected stays so');
    // Those that are in step stay so; the others say why.
    onChanged(new Set(this.#byUid.keys()));
  }

  #put(thing: SipThing): void {
    this.#enter(thing);
    this.#journal?.push(() => this.#enter(thing));
  }

  #drop(id: string): void {
    this.#strike(id);
    this.#journal?.push(() => this.#strike(id));
  }

  #enter(thing: SipThing): void {
    this.#strike(thing.id);
    this.#byId.set(thing.id, thing);
    for (const [index, key] of this.#places(thing)) {
      const group = index.get(key) ?? new Map<string, SipThing>();
      group.set(thing.id, thing);
      index.set(key, group);
    }
  }

  #strike(id: string): void {
    const thing = this.#byId.get(id);
    if (thing === undefined) return;
    this.#byId.delete(id);
    for (const [index, key] of this.#places(thing)) {
      const group = index.get(key);
      if (group?.delete(id) === true && group.size === 0) index.delete(key);
    }
  }

  #places({ uid, number }: SipThing): readonly (readonly [Map<string, Map<string, SipThing>>, string])[] {
    return [
      [this.#byUid, uid],
      [this.#byNumber, number],
    ];
  }
}

function inOrder(things: ReadonlyMap<string, SipThing> | undefined): readonly SipThing[] {
  return [...(things?.values() ?? [])].sort((a, b) => (a.id < b.id ? -1 : 1));
}

function printOf(things: ReadonlyMap<string, SipThing> | undefined): string {
  return inOrder(things)
    .map(({ id, digest }) => `${id} ${digest}`)
    .join('\n');
}
