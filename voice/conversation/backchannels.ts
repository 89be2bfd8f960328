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

/** Returns whether the text has nothing but backchannels. @param language BCP 47 tag */
export function isBackchannel(text: string, language: string): boolean {
  // Some services write what they hear besides words: (laughs), [laughter], *coughs*.
  const words = text
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/\([^)]*\)|\[[^\]]*\]|\*[^*]*\*/gu, ' ')
    .replaceAll(/[^\p{L}\p{N}']+/gu, ' ')
    .trim();
  const known = [...SOUNDS, ...(WORDS[language.toLowerCase().split('-')[0]!] ?? [])];
  return text.trim() !== '' && (words === '' || new RegExp(`^(?:(?:${known.join('|')})(?: |$))+$`, 'u').test(words));
}
