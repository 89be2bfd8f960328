/** Knows the sound of a speech, sentence by sentence, and how much of the text was heard when only a part of it was played. */
import type { Sentence } from '../text-normalization/index.ts';
import { USUAL_CHARACTERS_PER_SECOND } from '../providers/tts/rest-of-sentence.ts';

interface Spoken {
  readonly sentence: Sentence;
  /** Length of its sound so far, in seconds. */
  seconds: number;
}

export class Synthesis {
  readonly #sentences: Spoken[] = [];
  #running = 0;

  /** Begins a stream of sound; one speech may have several, one after the other. */
  begin(): void {
    this.#running += 1;
  }

  /** Ends a stream of sound: all of it is there. */
  end(): void {
    this.#running -= 1;
  }

  /** True if all of the text has become sound. */
  get complete(): boolean {
    return this.#running === 0;
  }

  /** Adds sound. @param begins the sentence whose sound begins; absent where one goes on */
  addSound(seconds: number, begins?: Sentence): void {
    if (begins !== undefined) this.#sentences.push({ sentence: begins, seconds: 0 });
    const last = this.#sentences.at(-1);
    if (last !== undefined) last.seconds += seconds;
  }

  /**
   * Returns the text that was heard, in whole words: in a sentence each character that is spoken takes as long as any other.
   * @param seconds how much of the sound was played
   */
  heardIn(seconds: number): string {
    let [left, heard] = [seconds, ''];
    for (const [index, { sentence, seconds: sound }] of this.#sentences.entries()) {
      const ended = this.complete || index < this.#sentences.length - 1;
      const lasts = ended ? sound : Math.max(sound, sentence.spoken.length / this.#charactersPerSecond(index));
      if (left < lasts) return heard + sentence.heardUpTo(left / lasts);
      heard += sentence.written;
      left -= lasts;
    }
    return heard;
  }

  /** Returns the speed of the sentences before. */
  #charactersPerSecond(before: number): number {
    const known = this.#sentences.slice(0, before);
    const seconds = known.reduce((sum, spoken) => sum + spoken.seconds, 0);
    const characters = known.reduce((sum, { sentence }) => sum + sentence.spoken.length, 0);
    return seconds > 0 ? characters / seconds : USUAL_CHARACTERS_PER_SECOND;
  }
}
