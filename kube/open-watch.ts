import type { Clock, Timer } from '../platform/clock.ts';
import { KubeError } from './error.ts';
import type { ResourceClient, WatchOptions } from './resource-client.ts';
import type { KubeObject } from './types.ts';
import type { WatchEvent, WatchStream } from './watch-stream.ts';

/** One watch that is under way, read event by event, with a limit to its silence. */
export class OpenWatch<T extends KubeObject> {
  readonly #stream: WatchStream<T>;
  readonly #iterator: AsyncIterator<WatchEvent<T>>;
  readonly #silence: SilenceWatch;
  #silent = false;

  private constructor(stream: WatchStream<T>, silence: SilenceWatch) {
    this.#stream = stream;
    this.#iterator = stream[Symbol.asyncIterator]();
    this.#silence = silence;
  }

  /** Resolves when the server has taken the watch. `onContact` is called whenever it sends something. */
  static async open<T extends KubeObject>(
    client: Pick<ResourceClient<T>, 'watch'>,
    options: WatchOptions,
    { clock, silentMs, onContact }: { readonly clock: Clock; readonly silentMs: number; readonly onContact: () => void },
  ): Promise<OpenWatch<T>> {
    let watch: OpenWatch<T> | undefined;
    const silence = new SilenceWatch({ clock, limitMs: silentMs, onSilent: () => (watch === undefined ? undefined : watch.#cut()) });
    const onBytes = (): void => {
      onContact();
      silence.heard();
    };
    try {
      watch = new OpenWatch<T>(await client.watch({ ...options, onBytes }), silence);
      onContact();
      silence.listening = false;
      return watch;
    } catch (error) {
      silence.stop();
      throw error;
    }
  }

  /** `undefined` when the server has ended the watch in order. @throws KubeError; reason `Silent` when nothing came for too long. */
  async next(): Promise<WatchEvent<T> | undefined> {
    this.#silence.listening = true;
    try {
      const result = await this.#iterator.next();
      if (result.done) this.#checkSilence();
      return result.done ? undefined : result.value;
    } catch (error) {
      this.#checkSilence();
      throw error;
    } finally {
      this.#silence.listening = false;
    }
  }

  set silentMs(limitMs: number) {
    this.#silence.limitMs = limitMs;
  }

  close(): void {
    this.#silence.stop();
    this.#stream.destroy();
  }

  #cut(): void {
    this.#silent = true;
    this.close();
  }

  #checkSilence(): void {
    if (this.#silent)
      throw new KubeError({
        code: 0,
        reason: 'Silent',
        message: `the API server sent nothing for ${this.#silence.limitMs / 1000} s; its connection is taken for dead`,
      });
  }
}

interface SilenceWatchOptions {
  readonly clock: Clock;
  readonly limitMs: number;
  /** Called once, after a silence of `limitMs`. */
  readonly onSilent: () => void;
}

/**
 * Detects a connection on which nothing arrives any more: one whose other end vanished stays open for hours.
 * Only time spent listening counts: while the reader is busy, silence is its own.
 * Receiving something costs an assignment; the timer is only set again when it fires.
 */
class SilenceWatch {
  readonly #options: SilenceWatchOptions;
  #limitMs: number;
  #since: number;
  #listening = true;
  #timer: Timer;

  constructor(options: SilenceWatchOptions) {
    this.#options = options;
    this.#limitMs = options.limitMs;
    this.#since = options.clock.monotonic();
    this.#timer = this.#arm(options.limitMs);
  }

  heard(): void {
    this.#since = this.#options.clock.monotonic();
  }

  /** The reader waits for the next thing (`true`) or works on the last one. */
  set listening(listening: boolean) {
    this.#listening = listening;
    if (listening) this.heard();
  }

  get limitMs(): number {
    return this.#limitMs;
  }

  set limitMs(limitMs: number) {
    this.#limitMs = limitMs;
    this.#timer.cancel();
    this.#timer = this.#arm(this.#left());
  }

  stop(): void {
    this.#timer.cancel();
  }

  #left(): number {
    return this.#since + this.#limitMs - this.#options.clock.monotonic();
  }

  #arm(ms: number): Timer {
    return this.#options.clock.after(Math.max(0, ms), () => {
      const left = this.#listening ? this.#left() : this.#limitMs;
      if (left > 0) this.#timer = this.#arm(left);
      else this.#options.onSilent();
    });
  }
}
