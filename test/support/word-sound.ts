/** Makes sound whose samples say what is in it: 0 is silence, 1 noise, every other number a word. It has 16 bits and one channel. */
import { joinSamples } from '../../voice/sound/join-samples.ts';

const [SILENCE, NOISE] = [0, 1];

export class WordSound {
  readonly #sampleRate: number;
  /** Words by number. */
  readonly #words: string[] = ['', ''];

  constructor(sampleRate: number) {
    this.#sampleRate = sampleRate;
  }

  /** @param text words between spaces */
  says(text: string, msPerWord: number): Int16Array {
    const words = text.split(' ').map((word) => this.#samples(this.#words.push(word) - 1, msPerWord));
    return joinSamples(words);
  }

  noise(ms: number): Int16Array {
    return this.#samples(NOISE, ms);
  }

  silence(ms: number): Int16Array {
    return this.#samples(SILENCE, ms);
  }

  /** @param complete whether the last word is over, though nothing else follows it */
  wordsIn(samples: Int16Array, { complete = true } = {}): readonly string[] {
    const numbers = [...new Set(samples)].filter((number) => number > NOISE);
    const over = complete || samples.at(-1) !== numbers.at(-1) ? numbers : numbers.slice(0, -1);
    return over.map((number) => this.#words[number]!);
  }

  #samples(number: number, ms: number): Int16Array {
    return new Int16Array(Math.round((ms * this.#sampleRate) / 1_000)).fill(number);
  }
}
