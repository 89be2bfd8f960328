/** The sound of a speech, sentence by sentence: it knows how much of the text was heard when only a part of it was played. */
import { USUAL_CHARACTERS_PER_SECOND } from '../providers/tts/rest-of-sentence.ts';

interface Sentence {
  /** Where it ends in the text; undefined while nothing follows. */
  end: number | undefined;
  /** Of its sound so far. */
  seconds: number;
}

export class Synthesis {
  readonly #sentences: Sentence[] = [];
  #text = '';
  #running = 0;

  /** A stream of sound begins; one speech may have several, one after the other. */
  begin(): void {
    this.#running += 1;
  }

  /** A stream of sound has ended: all of it is there. */
  end(): void {
    this.#running -= 1;
  }

  /** Whether all of the text has become sound. */
  get complete(): boolean {
    return this.#running === 0;
  }

  addText(piece: string): void {
    this.#text += piece;
  }

  /** @param sentence whose sound begins; absent where it goes on, and where the voice doesn't say */
  addSound(seconds: number, sentence?: string): void {
    if (sentence !== undefined) {
      const from = this.#sentences.at(-1)?.end ?? 0;
      const at = this.#text.indexOf(sentence, from);
      this.#sentences.push({ end: at < 0 ? from + sentence.length : at + sentence.length, seconds: 0 });
    } else if (this.#sentences.length === 0) this.#sentences.push({ end: undefined, seconds: 0 });
    this.#sentences.at(-1)!.seconds += seconds;
  }

  /**
   * Whole words: in a sentence each character takes as long as any other.
   * @param seconds how much of the sound was played
   */
  heardIn(seconds: number): string {
    let [left, from] = [seconds, 0];
    for (const [index, sentence] of this.#sentences.entries()) {
      const end = sentence.end ?? this.#text.length;
      const ended = this.complete || index < this.#sentences.length - 1;
      const lasts = ended ? sentence.seconds : Math.max(sentence.seconds, (end - from) / this.#charactersPerSecond(index));
      if (left < lasts) return (this.#text.slice(0, from) + wordsIn(this.#text.slice(from, end), left / lasts)).trim();
      left -= lasts;
      from = end;
    }
    return this.#text.slice(0, from).trim();
  }

  /** Of the sentences before. */
  #charactersPerSecond(before: number): number {
    const known = this.#sentences.slice(0, before);
    const seconds = known.reduce((sum, sentence) => sum + sentence.seconds, 0);
    return seconds > 0 ? known.at(-1)!.end! / seconds : USUAL_CHARACTERS_PER_SECOND;
  }
}

const words = new Intl.Segmenter(undefined, { granularity: 'word' });

/** What of a text was said in a share of its time, without the word that was cut off. */
function wordsIn(text: string, share: number): string {
  const length = Math.round(text.length * share);
  const rest = [...words.segment(text)].find(({ index, segment }) => index + segment.length > length);
  return text.slice(0, rest?.index);
}
