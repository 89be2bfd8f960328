/** Lists the phrases that a recogniser with a small vocabulary of sentences listens for. */

/** People say these to an agent on the telephone, or to try one. */
const USUAL = [
  'hello',
  'hello can you hear me',
  'good morning',
  'good afternoon',
  'yes',
  'yes please',
  'no',
  'no thank you',
  'okay',
  'stop',
  'wait a moment',
  'thank you',
  'thank you very much',
  'thank you good bye',
  'good bye',
  'that is all thank you',
  'what can you do',
  'what can you do for me',
  'can you help me',
  'can you repeat that please',
  'i did not understand that',
  'who are you',
  'what time is it',
  'what are your opening hours',
  'when are you open',
  'where is my order',
  'what is the status of my order',
  'where is my bicycle',
  'is my bicycle ready',
  'when will my bicycle be ready',
  'what does the bicycle cost',
  'how much does it cost',
  'what does an inspection cost',
  'how much is a new tyre',
  'i would like an appointment',
  'i would like an appointment on monday',
  'i would like an appointment tomorrow',
  'can i come tomorrow',
  'can i come on friday',
  'i would like to talk to a person',
  'can i talk to a person',
  'please transfer me to the workshop',
  'i want to complain',
  'my bicycle is broken',
  'i have a question',
  'do you rent bicycles',
  'do you have a warranty',
  'how long is the warranty',
  'can i cancel my order',
  'tell me a story',
] as const;

const UNITS =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  );
const TENS = ['', '', 'twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety'];

/** Spells a number as it is read aloud; digit by digit where it is long. */
export function numberWords(digits: string): string {
  const value = Number(digits);
  if (digits.length > 4 || (digits.length > 1 && digits.startsWith('0')))
    return digits
      .split('')
      .map((digit) => UNITS[Number(digit)])
      .join(' ');
  if (value < 20) return UNITS[value]!;
  if (value < 100) return `${TENS[Math.floor(value / 10)]}${value % 10 === 0 ? '' : ` ${UNITS[value % 10]}`}`;
  const [size, name] = value < 1000 ? [100, 'hundred'] : [1000, 'thousand'];
  const rest = value % size;
  return `${numberWords(String(Math.floor(value / size)))} ${name}${rest === 0 ? '' : ` ${numberWords(String(rest))}`}`;
}

/** Returns the words alone, as a dictionary has them. */
export const spokenForm = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll('’', "'")
    .replaceAll(/\d+/g, (digits) => ` ${numberWords(digits)} `)
    .replaceAll(/[^a-z' ]+/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();

export interface Spoken {
  readonly text: string;
  readonly language: string;
  /** Length of the sound without the silence around it. */
  readonly seconds: number;
}

/** Number of the server's own sentences that are remembered. */
const REMEMBERED = 200;

/**
 * Knows the usual phrases, and what this server has spoken itself lately: a test or `parley call --say` has it speak the user's words, and
 * it has to understand those.
 */
export class Phrases {
  #spoken: Spoken[] = [];

  remember(spoken: Spoken): void {
    this.#spoken = [...this.#spoken.filter(({ text }) => text !== spoken.text), spoken].slice(-REMEMBERED);
  }

  /** Maps the words that are listened for to the text as it was written, with figures and marks. */
  forms(): ReadonlyMap<string, string> {
    const forms = new Map<string, string>(USUAL.map((phrase) => [phrase, phrase]));
    for (const { text, language } of this.#spoken) {
      if (!isEnglish(language)) continue;
      forms.set(spokenForm(text), text);
      // A long text is heard in sentences.
      for (const sentence of text.split(/(?<=[.!?])\s+/)) if (!forms.has(spokenForm(sentence))) forms.set(spokenForm(sentence), sentence);
    }
    return forms;
  }

  /** Returns the text of this server's own that takes as long as the sound: a guess, for languages and machines without a recogniser. */
  byLength(seconds: number, language: string | undefined): string | undefined {
    const near = this.#spoken
      .filter((spoken) => language === undefined || baseOf(spoken.language) === baseOf(language))
      .map(({ text, seconds: length }) => ({ text, off: Math.abs(length - seconds) / Math.max(length, 0.1) }))
      .sort((left, right) => left.off - right.off)[0];
    return near !== undefined && near.off < 0.06 ? near.text : undefined;
  }
}

export const baseOf = (language: string): string => language.split('-')[0]!.toLowerCase();
export const isEnglish = (language: string): boolean => baseOf(language) === 'en';
