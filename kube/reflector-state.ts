/**
 * The reflector's life as a pure state machine: which state follows which event. What a state does is the reflector's.
 *
 *             ┌─ unsupported ─┐                    ┌─ ended ─┐
 *             ▼               │                    ▼         │
 *   start ─▶ Listing ─────────┴───── synced ────▶ Watching ──┤
 *             ▲   │                                ▲         │
 *             │   └─ failed ─▶ Backoff ◀───────────┼─────────┘ broken, expired, ended at once
 *             └──── elapsed ──────┴──── elapsed ───┘                       any ─ stop ─▶ Stopped
 *
 *   | state    | event       | next                                                                            |
 *   |----------|-------------|---------------------------------------------------------------------------------|
 *   | Listing  | synced      | Watching, from the listing's resourceVersion                                    |
 *   | Listing  | unsupported | Listing by pages, from now on                                                   |
 *   | Listing  | failed      | Backoff, then Listing; every fourth time by pages, after three broken WatchLists |
 *   | Watching | ended       | Watching, from the last event; Backoff first when the watch was over at once    |
 *   | Watching | broken      | Backoff, then Watching from the last event; the fifth time in a row Listing     |
 *   | Watching | expired     | Backoff, then Listing                                                           |
 *   | Backoff  | elapsed     | the state that the Backoff stands before                                        |
 *   | each     | stop        | Stopped                                                                         |
 */

/** How a listing is made: one streamed WatchList, or pages. */
export type ListMode = 'watch-list' | 'pages';

interface Common {
  /** Failures since the last healthy watch: they set the length of the next Backoff. */
  readonly failures: number;
  /** The same step failed so many times in a row. */
  readonly attempts: number;
  /** The server said that it can't stream a listing: it isn't asked again. */
  readonly pagesOnly: boolean;
}

export interface Listing extends Common {
  readonly name: 'listing';
  readonly mode: ListMode;
}

export interface Watching extends Common {
  readonly name: 'watching';
  readonly resourceVersion: string;
}

export interface Backoff {
  readonly name: 'backoff';
  /** At least 1. */
  readonly failures: number;
  readonly next: Listing | Watching;
}

export interface Stopped {
  readonly name: 'stopped';
}

export type ReflectorState = Listing | Watching | Backoff | Stopped;
export type StateName = ReflectorState['name'];
type StateOf<S extends StateName> = Extract<ReflectorState, { name: S }>;

/** `aliveMs`: how long the watch lasted since the server took it, 0 when it never did. `resourceVersion`: how far it came. */
interface WatchOver {
  readonly aliveMs: number;
  readonly resourceVersion: string;
}

interface EventData {
  synced: { readonly resourceVersion: string };
  unsupported: object;
  failed: object;
  ended: WatchOver;
  broken: WatchOver;
  expired: WatchOver;
  elapsed: object;
  stop: object;
}

/** The events that may come in each state, and the states that may follow. The compiler holds the table and the reflector to it. */
interface Transitions {
  listing: { synced: Watching; unsupported: Listing; failed: Backoff; stop: Stopped };
  watching: { ended: Watching | Backoff; broken: Backoff; expired: Backoff; stop: Stopped };
  backoff: { elapsed: Listing | Watching; stop: Stopped };
  stopped: { readonly [E in never]: E };
}

type EventOf<E extends keyof EventData> = { readonly type: E } & EventData[E];

export type EventIn<S extends StateName> = { [E in keyof EventData]: E extends keyof Transitions[S] ? EventOf<E> : never }[keyof EventData];

type Row<S extends StateName> = {
  readonly [E in keyof Transitions[S]]: (state: StateOf<S>, event: E extends keyof EventData ? EventOf<E> : never) => Transitions[S][E];
};

/** A watch that lasted this long, in milliseconds, makes up for the failures before it. */
export const HEALTHY_MS = 10_000;
/** A watch that is over sooner than this, in milliseconds, counts as a failure. */
export const SHORTEST_WATCH_MS = 1_000;
/** WatchLists in a row that break before one listing is made by pages: being in sync matters more than how. */
export const WATCH_LIST_ATTEMPTS = 3;
/** Watches in a row that come to nothing before the position they begin at is doubted. */
export const WATCH_ATTEMPTS = 5;

export const initialState: Listing = { name: 'listing', mode: 'watch-list', failures: 0, attempts: 0, pagesOnly: false };
const stopped: Stopped = { name: 'stopped' };

const table: { readonly [S in StateName]: Row<S> } = {
  listing: {
    synced: ({ failures, pagesOnly }, { resourceVersion }) => ({ name: 'watching', resourceVersion, failures, attempts: 0, pagesOnly }),
    unsupported: (state) => ({ ...state, mode: 'pages', pagesOnly: true }),
    failed: ({ failures, attempts, pagesOnly }) => wait(list({ failures: failures + 1, attempts: attempts + 1, pagesOnly })),
    stop: () => stopped,
  },
  watching: {
    ended: (state, over) => (over.aliveMs < SHORTEST_WATCH_MS ? wait(afterFailure(state, over)) : { ...state, ...healed(state, over) }),
    broken: (state, over) => {
      const next = afterFailure(state, over);
      return wait(next.attempts >= WATCH_ATTEMPTS ? list({ ...next, attempts: 0 }) : next);
    },
    expired: (state, over) => wait(list({ ...afterFailure(state, over), attempts: 0 })),
    stop: () => stopped,
  },
  backoff: {
    elapsed: ({ next }) => next,
    stop: () => stopped,
  },
  stopped: {},
};

/** Returns the state after `event` in `state`. Pure. */
export function transition<S extends Exclude<ReflectorState, Stopped>>(state: S, event: EventIn<S['name']>): ReflectorState {
  // The signature pairs state and event; looking a function up by both loses the pairing, so the cast restores it.
  const row = table[state.name] as unknown as Readonly<Record<string, (state: S, event: EventIn<S['name']>) => ReflectorState>>;
  const step = row[event.type];
  if (!step) throw new TypeError(`a reflector that is ${state.name} can't take the event ${event.type}`);
  return step(state, event);
}

function list({ failures, attempts, pagesOnly }: Common): Listing {
  const byPages = pagesOnly || attempts % (WATCH_LIST_ATTEMPTS + 1) === WATCH_LIST_ATTEMPTS;
  return { name: 'listing', mode: byPages ? 'pages' : 'watch-list', failures, attempts, pagesOnly };
}

function wait(next: Listing | Watching): Backoff {
  return { name: 'backoff', failures: next.failures, next };
}

function healed(state: Watching, { aliveMs, resourceVersion }: WatchOver): Pick<Watching, 'failures' | 'attempts' | 'resourceVersion'> {
  return {
    failures: aliveMs >= HEALTHY_MS ? 0 : state.failures,
    attempts: aliveMs >= SHORTEST_WATCH_MS ? 0 : state.attempts,
    resourceVersion,
  };
}

function afterFailure(state: Watching, over: WatchOver): Watching {
  const { failures, attempts, resourceVersion } = healed(state, over);
  return { ...state, failures: failures + 1, attempts: attempts + 1, resourceVersion };
}
