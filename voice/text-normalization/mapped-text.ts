/** Text that remembers what was written where something else is spoken. Immutable. */

interface Part {
  readonly written: string;
  readonly spoken: string;
  /**
   * True if it is heard as a whole or not at all, such as an amount; else both have the same length, and each character stands for the one
   * at its place.
   */
  readonly whole: boolean;
}

/**
 * A replacement in the text that {@link MappedText.text} gives; an edit isn't empty there, and edits come in their order and don't
 * overlap.
 */
export interface Edit {
  readonly from: number;
  readonly to: number;
  /** Replacement; empty for text that isn't spoken. */
  readonly spoken: string;
}

/** A sentence as the model wrote it, and as a voice says it. */
export interface Sentence {
  readonly written: string;
  /** Text that is spoken; empty where there is nothing to say. */
  readonly spoken: string;
  /** Returns the text as written, up to the last whole word that was heard. @param share of its sound that was heard, from 0 to 1 */
  heardUpTo(share: number): string;
}

/** Stands for an edit's replacement, so that no later edit looks into it: U+FFFC, the object replacement character. */
export const REPLACED = '\uFFFC';

const words = new Intl.Segmenter(undefined, { granularity: 'word' });

export class MappedText implements Sentence {
  readonly #parts: readonly Part[];
  /** Text that edits refer to: the spoken one, with {@link REPLACED} for each part that was replaced by more than one character. */
  readonly text: string;

  private constructor(parts: readonly Part[]) {
    this.#parts = parts;
    this.text = parts.map(shownOf).join('');
  }

  static of(written: string): MappedText {
    return new MappedText([{ written, spoken: written, whole: false }]);
  }

  get written(): string {
    return this.#parts.map(({ written }) => written).join('');
  }

  get spoken(): string {
    // A line break whose next line isn't spoken leaves a space.
    return this.#parts
      .map(({ spoken }) => spoken)
      .join('')
      .trimEnd();
  }

  /** Returns the same text behind something that isn't spoken. */
  after(unspoken: string): MappedText {
    return unspoken === '' ? this : new MappedText([{ written: unspoken, spoken: '', whole: true }, ...this.#parts]);
  }

  edit(edits: readonly Edit[]): MappedText {
    if (edits.length === 0) return this;
    const parts: Part[] = [];
    let [at, next] = [0, 0];
    /** Text that the edit under way has replaced so far. */
    let replaced: string | undefined;
    for (const part of this.#parts) {
      const length = shownOf(part).length;
      // Text that isn't spoken belongs to an edit around it, and to none beside it.
      if (length === 0 && replaced === undefined) parts.push(part);
      if (length === 0 && replaced !== undefined) replaced += part.written;
      for (let from = 0; from < length;) {
        const edit = edits[next];
        const isInside = edit !== undefined && at + from >= edit.from;
        const to = Math.min(length, edit === undefined ? length : (isInside ? edit.to : edit.from) - at);
        if (isInside) {
          replaced = (replaced ?? '') + sliceOf(part, from, to).written;
          if (at + to === edit.to) {
            parts.push({ written: replaced, spoken: edit.spoken, whole: true });
            replaced = undefined;
            next += 1;
          }
        } else parts.push(sliceOf(part, from, to));
        from = to;
      }
      at += length;
    }
    return new MappedText(parts);
  }

  heardUpTo(share: number): string {
    if (share >= 1) return this.written;
    const end = this.#lastWordEnd(share);
    let [at, written, waiting] = [0, '', ''];
    for (const part of this.#parts) {
      const to = Math.min(at + part.spoken.length, end);
      if (part.spoken === '') waiting += part.written;
      else if (part.whole ? at + part.spoken.length > end : to === at) break;
      else {
        written += waiting + part.written.slice(0, part.whole ? undefined : to - at);
        waiting = '';
      }
      // Markup that closes belongs to the word before it, markup that opens to the next.
      if (waiting !== '' && /\S$/u.test(written)) [written, waiting] = [written + waiting, ''];
      at += part.spoken.length;
      if (at > end) break;
    }
    return written;
  }

  /** Returns the end of the last word in the spoken text. A number that was begun isn't over before its last digit. */
  #lastWordEnd(share: number): number {
    const { spoken } = this;
    const heard = Math.round(spoken.length * Math.max(0, share));
    let end = 0;
    for (const { index, segment } of words.segment(spoken)) {
      if (index + segment.length > heard) break;
      end = index + segment.length;
    }
    const isOfNumber = (at: number): boolean => /[\d.,:/+-]/.test(spoken[at] ?? ' ');
    let [from, to, goesOn] = [end, end, false];
    for (; isOfNumber(to); to += 1) goesOn ||= /\d/.test(spoken[to]!);
    if (!goesOn) return end;
    while (from > 0 && isOfNumber(from - 1)) from -= 1;
    return from;
  }
}

const shownOf = ({ spoken, whole }: Part): string => (whole && spoken.length > 1 ? REPLACED : spoken);

function sliceOf(part: Part, from: number, to: number): Part {
  if (part.whole) return part;
  return { ...part, written: part.written.slice(from, to), spoken: part.spoken.slice(from, to) };
}
