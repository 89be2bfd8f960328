/** Backchannels: listeners say them to show that they listen. They ask for nothing, and do not interrupt. */

/** Sounds that mean the same everywhere. */
const SOUNDS = [
  'mm',
  'mmm',
  'hm',
  'hmm',
  'mhm',
  'mm hm',
  'mm hmm',
  'uh huh',
  'huh',
  'aha',
  'ah',
  'oh',
  'ok',
  'okay',
  '(?:h?[aeiou]?h[aeiou])+h?',
];

/** Words by language. None of them may answer a question on its own: a `no` or an English `yes` always counts. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  en: ['yeah', 'yep', 'right', 'sure', 'i see', 'got it', 'alright', 'all right', 'great', 'cool', 'wow', 'of course'],
  de: ['ja ja', 'genau', 'klar', 'ach so', 'achso', 'verstehe', 'ich verstehe', 'stimmt', 'alles klar'],
  fr: ['ouais', 'oui oui', "d'accord", 'je vois', 'voilà', 'très bien', 'bien sûr'],
  es: ['ajá', 'vale', 'sí sí', 'ya ya', 'claro', 'entiendo', 'ya veo'],
  it: ['sì sì', 'certo', 'capito', 'capisco', 'va bene', 'ho capito'],
  pt: ['aham', 'uhum', 'sim sim', 'certo', 'entendi', 'está bem', 'tá bom'],
  nl: ['oké', 'ja ja', 'precies', 'klopt', 'juist', 'ik snap het'],
  pl: ['okej', 'tak tak', 'jasne', 'rozumiem', 'no tak', 'aha'],
  sv: ['okej', 'ja ja', 'just det', 'precis', 'jag förstår'],
  da: ['okay', 'ja ja', 'nemlig', 'lige præcis', 'jeg forstår'],
};

/** Scripts that write words without spaces between them have no whole words. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}]/u;

/** Returns the words in lower case, with one space between them. */
function wordsOf(text: string): string {
  return (
    text
      .normalize('NFC')
      .toLowerCase()
      // Some services write what they hear besides words: (laughs), [laughter], *coughs*.
      .replaceAll(/\([^)]*\)|\[[^\]]*\]|\*[^*]*\*/gu, ' ')
      .replaceAll(/[^\p{L}\p{M}\p{N}']+/gu, ' ')
      .trim()
  );
}

/** Returns whether the text has one of the words or phrases, as whole words. */
export function hasOneOf(text: string, phrases: readonly string[]): boolean {
  const words = wordsOf(text);
  return phrases
    .map(wordsOf)
    .some((phrase) => phrase !== '' && (UNSPACED.test(phrase) ? words.includes(phrase) : ` ${words} `.includes(` ${phrase} `)));
}

/** Returns whether the text has nothing but backchannels. @param language BCP 47 tag @param own further ones, as the agent has them */
export function isBackchannel(text: string, language: string, own: readonly string[] = []): boolean {
  const words = wordsOf(text);
  return text.trim() !== '' && (words === '' || onlyOf(knownIn(language, own)).test(words));
}

/** Returns whether the text, which goes on, has nothing but backchannels and the first words of another one. */
export function mayBecomeBackchannel(text: string, language: string, own: readonly string[] = []): boolean {
  const words = wordsOf(text);
  const known = knownIn(language, own);
  const pattern = onlyOf(known);
  return known.some((phrase) => {
    const parts = phrase.split(' ');
    return parts.slice(0, -1).some((_, index) => {
      const begun = parts.slice(0, index + 1).join(' ');
      return words === begun || (words.endsWith(` ${begun}`) && pattern.test(words.slice(0, -begun.length - 1)));
    });
  });
}

function knownIn(language: string, own: readonly string[]): readonly string[] {
  const added = own.map(wordsOf).filter((phrase) => phrase !== '');
  return [...SOUNDS, ...(WORDS[language.toLowerCase().split('-')[0]!] ?? []), ...added];
}

const onlyOf = (known: readonly string[]): RegExp => new RegExp(`^(?:(?:${known.join('|')})(?: |$))+$`, 'u');
