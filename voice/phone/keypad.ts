/** The keypad of a telephone (DTMF): reads the keys that the user presses, and presses keys for the agent. */
import { RoomEvent, type RemoteParticipant, type Room } from '@livekit/rtc-node';

import { unlessAborted } from '../../platform/aborted.ts';
import { sleep, type Clock, type Timer } from '../../platform/clock.ts';

/** Longest pause between two keys of one entry, in milliseconds. */
const PAUSE_MS = 3_000;
/** Time for one key with the silence after it, in milliseconds: telephone systems want a tenth of a second of each. */
const PRESS_MS = 300;
/** Length of a `w` in the agent's keys, in milliseconds. */
const WAIT_MS = 500;
/** Key that ends an entry, and is not part of it. */
const END = '#';
const MOST_KEYS = 64;

/** Keys in the order of their numbers in RFC 4733. */
const KEYS = '0123456789*#ABCD';

export interface KeypadOptions {
  readonly room: Pick<Room, 'on' | 'localParticipant'>;
  readonly userIdentity: string;
  readonly clock: Clock;
}

interface Collection {
  readonly count: number;
  readonly done: (keys: string) => void;
  readonly over: Promise<unknown>;
}

export class Keypad {
  readonly #options: KeypadOptions;
  #pressed = '';
  #pause: Timer | undefined;
  #collection: Collection | undefined;
  #onEntry: (keys: string) => void = () => undefined;
  #onKey: () => void = () => undefined;

  constructor(options: KeypadOptions) {
    this.#options = options;
    options.room.on(RoomEvent.DtmfReceived, (_code: number, key: string, { identity }: RemoteParticipant) => {
      if (identity === options.userIdentity) this.#key(key);
    });
  }

  /** Listens to the keys. @param onKey called with each key @param onEntry called with a whole entry that no tool collects */
  listen({ onKey, onEntry }: { readonly onKey: () => void; readonly onEntry: (keys: string) => void }): void {
    this.#onKey = onKey;
    this.#onEntry = onEntry;
  }

  /**
   * Returns the next entry, which begins with the keys pressed since the last one. Each of several collections waits for the one before.
   * @param count number of keys that complete it; an entry of fewer ends with # or a pause
   * @returns the keys; empty where none is pressed in time, or the signal aborts
   */
  async collect({
    count,
    withinMs,
    signal,
  }: {
    readonly count: number;
    readonly withinMs: number;
    readonly signal: AbortSignal;
  }): Promise<string> {
    // Another tool of the turn may be collecting: tools run side by side.
    while (this.#collection !== undefined) await this.#collection.over;
    const { promise, resolve } = Promise.withResolvers<string>();
    const collection: Collection = { count, done: resolve, over: promise };
    this.#collection = collection;
    const late = this.#options.clock.after(withinMs, () => this.#pressed === '' && resolve(''));
    if (this.#pressed.length >= count) this.#complete();
    const keys = (await unlessAborted(promise, signal)) ?? '';
    resolve(keys);
    late.cancel();
    if (this.#collection === collection) this.#collection = undefined;
    return keys;
  }

  /** Presses keys. @param keys digits, `*`, `#`, A to D; `w` waits half a second */
  async press(keys: string, signal: AbortSignal): Promise<void> {
    for (const key of keys.toUpperCase()) {
      signal.throwIfAborted();
      const code = KEYS.indexOf(key);
      if (code >= 0) await this.#options.room.localParticipant?.publishDtmf(code, key);
      await sleep(this.#options.clock, code >= 0 ? PRESS_MS : WAIT_MS, signal);
    }
  }

  #key(key: string): void {
    this.#onKey();
    this.#pause?.cancel();
    if (key !== END && this.#pressed.length < MOST_KEYS) this.#pressed += key;
    const enough = this.#collection !== undefined && this.#pressed.length >= this.#collection.count;
    if (key === END || enough) this.#complete();
    else this.#pause = this.#options.clock.after(PAUSE_MS, () => this.#complete());
  }

  #complete(): void {
    this.#pause?.cancel();
    const keys = this.#pressed;
    this.#pressed = '';
    const collection = this.#collection;
    this.#collection = undefined;
    if (collection !== undefined) collection.done(keys);
    else if (keys !== '') this.#onEntry(keys);
  }
}
