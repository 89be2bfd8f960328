/** Splits streamed text into sentences, each as soon as it is known to be complete. */

/** Shorter ones go with the next: "Mr." is no sentence, and many short requests sound choppy. In characters. */
const MIN_LENGTH = 20;
/** A sentence is cut where it may be when it gets longer than this. */
const MAX_LENGTH = 400;

export class SentenceSplitter {
  readonly #segmenter: Intl.Segmenter;
  #text = '';

  /** @param language BCP 47; an unknown one is split as English */
  constructor(language: string) {
    this.#segmenter = new Intl.Segmenter(known(language), { granularity: 'sentence' });
  }

  /** Sentences that are complete by now. */
  push(text: string): readonly string[] {
    this.#text += text;
    return this.#cut(false);
  }

  /** What is left. */
  end(): readonly string[] {
    return this.#cut(true);
  }

  #cut(all: boolean): readonly string[] {
    const parts = [...this.#segmenter.segment(this.#text)].map(({ segment }) => segment);
    // The last one may go on.
    const open = all ? '' : (parts.pop() ?? '');
    const sentences: string[] = [];
    let sentence = '';
    for (const part of parts) {
      sentence += part;
      if (widthOf(sentence.trim()) < MIN_LENGTH) continue;
      sentences.push(sentence);
      sentence = '';
    }
    let rest = sentence + open;
    if (all && rest !== '') {
      sentences.push(rest);
      rest = '';
    }
    while (rest.length > MAX_LENGTH) {
      const at = Math.max(rest.lastIndexOf(', ', MAX_LENGTH), rest.lastIndexOf('; ', MAX_LENGTH), 0) || rest.lastIndexOf(' ', MAX_LENGTH);
      const cut = at > 0 ? at + 1 : MAX_LENGTH;
      sentences.push(rest.slice(0, cut));
      rest = rest.slice(cut);
    }
    this.#text = rest;
    return sentences.map((text) => text.trim()).filter(isSpoken);
  }
}

/** Scripts without spaces say more with fewer characters. */
const widthOf = (text: string): number =>
  text.length + 2 * (text.match(/[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}]/gu)?.length ?? 0);

/** Whether it has anything to say: TTS answers a dash or a smiley by itself with an error, or with nothing. */
const isSpoken = (text: string): boolean => /[\p{L}\p{N}]/u.test(text);

function known(language: string): string {
  try {
    return Intl.Segmenter.supportedLocalesOf(language)[0] ?? 'en';
  } catch {
    return 'en';
  }
}
