/** Cuts utterances out of sound by its energy: the same as in room.go. */

/** Mean of the absolute values of samples. */
const LOUD = 300;

export class UtteranceCutter {
  /** Of silence after speech, in samples. */
  readonly #pause: number;
  #utterance: Int16Array[] = [];
  #silence = 0;

  constructor(sampleRate: number) {
    this.#pause = sampleRate * 0.3;
  }

  /** @returns an utterance that has ended with these samples */
  add(samples: Int16Array): readonly Int16Array[] | undefined {
    let sum = 0;
    for (const sample of samples) sum += Math.abs(sample);
    const loud = sum > LOUD * samples.length;
    if (!loud && this.#utterance.length === 0) return undefined;
    this.#utterance.push(samples);
    this.#silence = loud ? 0 : this.#silence + samples.length;
    if (this.#silence < this.#pause) return undefined;
    const utterance = this.#utterance;
    this.#utterance = [];
    this.#silence = 0;
    return utterance;
  }
}
