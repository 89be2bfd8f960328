/**
 * Makes speech that a fake provider recognises exactly: each word is 100 ms of one level, then 20 ms of silence. A word that is lost,
 * doubled or cut on its way is heard as such.
 */
const VOCABULARY =
  'one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen'.split(' ');
const WORD_MS = 100;
const GAP_MS = 20;
const LEVEL = 1_000;
/** Shorter pieces are no words: sound that begins or ends in the middle of one. */
const MIN_WORD_MS = 60;
const BYTES_PER_SAMPLE = 2;

/** Returns so many words, beginning with the first. */
export const wordsOf = (count: number): readonly string[] => Array.from({ length: count }, (_, n) => VOCABULARY[n % VOCABULARY.length]!);

/** Returns the sound of words in 16 bits, one channel. */
export function samplesOf(words: readonly string[], sampleRate: number): Int16Array {
  const [word, gap] = [(WORD_MS * sampleRate) / 1_000, (GAP_MS * sampleRate) / 1_000];
  const samples = new Int16Array(words.length * (word + gap));
  words.forEach((each, n) => samples.fill((VOCABULARY.indexOf(each) + 1) * LEVEL, n * (word + gap), n * (word + gap) + word));
  return samples;
}

export const silence = (ms: number, sampleRate: number): Int16Array => new Int16Array((ms * sampleRate) / 1_000);

export interface HeardWord {
  readonly word: string;
  /** End of the word, in seconds since the first audio. */
  readonly seconds: number;
}

export class WordListener {
  readonly #sampleRate: number;
  readonly words: HeardWord[] = [];
  #samples = 0;
  #soundSamples = 0;
  #level = 0;
  #length = 0;

  constructor(sampleRate: number) {
    this.#sampleRate = sampleRate;
  }

  /** Seconds of all audio. */
  get seconds(): number {
    return this.#samples / this.#sampleRate;
  }

  /** Seconds up to the end of the last sound, in the middle of a word as well. */
  get soundSeconds(): number {
    return this.#soundSamples / this.#sampleRate;
  }

  hear(pcm: Uint8Array): void {
    const view = new DataView(pcm.buffer, pcm.byteOffset, pcm.byteLength);
    for (let at = 0; at + 1 < pcm.length; at += BYTES_PER_SAMPLE) {
      const level = Math.round(view.getInt16(at, true) / LEVEL);
      if (level !== this.#level) this.#end(level);
      this.#length += 1;
      this.#samples += 1;
      if (level !== 0) this.#soundSamples = this.#samples;
    }
  }

  #end(next: number): void {
    const word = VOCABULARY[this.#level - 1];
    if (word !== undefined && this.#length >= (MIN_WORD_MS * this.#sampleRate) / 1_000) this.words.push({ word, seconds: this.seconds });
    this.#level = next;
    this.#length = 0;
  }
}
