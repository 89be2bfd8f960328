/** Asks the model of a VAD once for each window of sound that several streams of a call read. */

/** Of `@livekit/local-inference`: it remembers the windows before. */
export interface WindowModel {
  /** How likely it is that somebody speaks, 0 to 1. */
  predict(window: Int16Array): Promise<number>;
  reset(): void;
}

interface Answer {
  readonly index: number;
  readonly byteOffset: number;
  readonly probability: Promise<number>;
}

/**
 * Streams of the same sound get the same frames. The one that is ahead asks the model, the others get its answers. A stream that gets other
 * frames, or misses some, has a model of its own from then on: a model has to hear each window once, and in order.
 */
export class SharedWindows {
  readonly #create: () => WindowModel;
  readonly #answers = new WeakMap<ArrayBufferLike, Answer>();
  #shared: WindowModel | undefined;
  #asked = 0;

  /** @param create for streams that do not share */
  constructor(create: () => WindowModel) {
    this.#create = create;
  }

  /** For one more stream. @param own what it would ask by itself */
  modelFor(own: WindowModel): WindowModel {
    const shared = (this.#shared ??= own);
    let alone: WindowModel | undefined;
    let next = 0;
    const ask = (window: Int16Array): Promise<number> => {
      const known = this.#answers.get(window.buffer);
      if (known?.byteOffset === window.byteOffset && known.index >= next) {
        next = known.index + 1;
        return known.probability;
      }
      if (next !== this.#asked) {
        alone = own === shared ? this.#create() : own;
        return alone.predict(window);
      }
      const probability = shared.predict(window);
      this.#answers.set(window.buffer, { index: this.#asked, byteOffset: window.byteOffset, probability });
      next = this.#asked += 1;
      return probability;
    };
    return {
      predict: (window) => alone?.predict(window) ?? ask(window),
      // Of what is shared the sound goes on, also where one stream begins to count again.
      reset: () => alone?.reset(),
    };
  }
}
