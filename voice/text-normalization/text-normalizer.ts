/**
 * Turns the model's text into what the voice says: sentence by sentence as the text comes, with a map back to the model's own words. Knows
 * neither sound nor LiveKit.
 */
import { hasWords } from '../../calls/model-stream/index.ts';
import { editsOfEmoji } from './emoji.ts';
import { MappedText, type Edit, type Sentence } from './mapped-text.ts';
import { MarkupReader } from './markup.ts';
import { rulesOf, type NormalizationOptions } from './rules/index.ts';
import type { Rule } from './rules/rule.ts';
import { SentenceSplitter } from './sentence-splitter.ts';
import { vocabularyOf } from './vocabulary.ts';

export class TextNormalizer {
  readonly #options: NormalizationOptions;
  readonly #rules: readonly Rule[];

  constructor(options: NormalizationOptions) {
    this.#options = options;
    this.#rules = rulesOf(options);
  }

  /** Starts the next answer. */
  answer(): AnswerNormalizer {
    const { language, normalization = {} } = this.#options;
    const markup = normalization.markup === false ? undefined : new MarkupReader(vocabularyOf(language));
    const emoji = normalization.emoji === false ? [] : [editsOfEmoji];
    return new AnswerNormalizer(new SentenceSplitter(language), (written) => {
      const read = MappedText.of(written).edit(markup?.editsOf(written) ?? []);
      return tidy([...emoji, ...this.#rules].reduce((text, rule) => text.edit(rule(text.text)), read));
    });
  }

  /** Normalizes a complete text. */
  spokenOf(text: string): string {
    const answer = this.answer();
    return [...answer.push(text), ...answer.end()]
      .map(({ spoken }) => spoken)
      .join(' ')
      .trim();
  }
}

/** Yields the sentences of one answer after the other; their `written`, joined, is the text. */
export class AnswerNormalizer {
  readonly #splitter: SentenceSplitter;
  readonly #normalize: (written: string) => MappedText;
  /** Text before the next sentence that is not spoken. */
  #unspoken = '';

  constructor(splitter: SentenceSplitter, normalize: (written: string) => MappedText) {
    this.#splitter = splitter;
    this.#normalize = normalize;
  }

  /** True if the listener still waits for the first sentence, and a word of it is there. */
  get isAwaited(): boolean {
    return this.#splitter.isAwaited;
  }

  /** Takes text. Returns the sentences that are complete by now. */
  push(text: string): readonly Sentence[] {
    return this.#sentences(this.#splitter.push(text));
  }

  /** Lets the first sentence end between two words: the listener has waited long enough for it. */
  hurry(): readonly Sentence[] {
    return this.#sentences(this.#splitter.hurry());
  }

  /** Returns the rest. The last sentence has nothing to say where the answer ends with text that isn't spoken. */
  end(): readonly Sentence[] {
    const sentences = this.#sentences(this.#splitter.end());
    const unspoken = this.#unspoken;
    this.#unspoken = '';
    return unspoken === '' ? sentences : [...sentences, MappedText.of(unspoken).edit([{ from: 0, to: unspoken.length, spoken: '' }])];
  }

  #sentences(pieces: readonly string[]): readonly Sentence[] {
    return pieces.flatMap((written) => {
      const sentence = this.#normalize(written);
      if (!hasWords(sentence.spoken)) {
        this.#unspoken += written;
        return [];
      }
      const after = sentence.after(this.#unspoken);
      this.#unspoken = '';
      return [after];
    });
  }
}

/** Leaves one space between words, and none around them. */
function tidy(text: MappedText): MappedText {
  const edits = [...text.text.matchAll(/\s+/gu)].flatMap(({ 0: space, index }): readonly Edit[] => {
    const to = index + space.length;
    if (index === 0 || to === text.text.length) return [{ from: index, to, spoken: '' }];
    return space === ' ' ? [] : [{ from: index, to, spoken: ' ' }];
  });
  return text.edit(edits);
}
