/** Reduces a word to the term that finds it. */
import snowball from 'snowball-stemmers';

import { banglaTerm } from './bangla.ts';

type Script = 'latin' | 'greek' | 'cyrillic' | 'armenian' | 'hebrew' | 'arabic' | 'bengali' | 'tamil' | 'other';

/** Last code point of each range and its script; ascending. Letters below the first range's end are Latin. */
const RANGES: readonly (readonly [last: number, script: Script])[] = [
  [0x2ff, 'latin'],
  [0x36f, 'other'],
  [0x3ff, 'greek'],
  [0x52f, 'cyrillic'],
  [0x58f, 'armenian'],
  [0x5ff, 'hebrew'],
  [0x6ff, 'arabic'],
  [0x74f, 'other'],
  [0x77f, 'arabic'],
  [0x89f, 'other'],
  [0x8ff, 'arabic'],
  [0x97f, 'other'],
  [0x9ff, 'bengali'],
  [0xb7f, 'other'],
  [0xbff, 'tamil'],
  [0x1dff, 'other'],
  [0x1eff, 'latin'],
  [0x1fff, 'greek'],
];

/**
 * Decides by the first character that is no ASCII digit: words of more than one script are rare and only have to be treated alike each
 * time.
 */
function scriptOf(word: string): Script {
  for (let index = 0; index < word.length; index += 1) {
    const code = word.charCodeAt(index);
    if (code >= 0x30 && code <= 0x39) continue;
    for (const [last, script] of RANGES) if (code <= last) return script;
    return 'other';
  }
  return 'other';
}

interface Algorithm {
  readonly name: string;
  readonly script: Script;
}

/** Snowball's algorithms by the primary subtag of BCP 47. */
const ALGORITHMS: Readonly<Record<string, Algorithm>> = {
  ar: { name: 'arabic', script: 'arabic' },
  ca: { name: 'catalan', script: 'latin' },
  cs: { name: 'czech', script: 'latin' },
  da: { name: 'danish', script: 'latin' },
  de: { name: 'german', script: 'latin' },
  en: { name: 'english', script: 'latin' },
  es: { name: 'spanish', script: 'latin' },
  eu: { name: 'basque', script: 'latin' },
  fi: { name: 'finnish', script: 'latin' },
  fr: { name: 'french', script: 'latin' },
  ga: { name: 'irish', script: 'latin' },
  hu: { name: 'hungarian', script: 'latin' },
  hy: { name: 'armenian', script: 'armenian' },
  it: { name: 'italian', script: 'latin' },
  nb: { name: 'norwegian', script: 'latin' },
  nl: { name: 'dutch', script: 'latin' },
  nn: { name: 'norwegian', script: 'latin' },
  no: { name: 'norwegian', script: 'latin' },
  pt: { name: 'portuguese', script: 'latin' },
  ro: { name: 'romanian', script: 'latin' },
  ru: { name: 'russian', script: 'cyrillic' },
  sl: { name: 'slovene', script: 'latin' },
  sv: { name: 'swedish', script: 'latin' },
  ta: { name: 'tamil', script: 'tamil' },
  tr: { name: 'turkish', script: 'latin' },
};

/** Algorithms for words in a script that is not the language's own: that of the language most often written in it. */
const USUAL: Partial<Readonly<Record<Script, string>>> = {
  latin: 'english',
  cyrillic: 'russian',
  arabic: 'arabic',
  armenian: 'armenian',
  tamil: 'tamil',
};

/** Languages without an algorithm, by the script that they keep as it is. Any other language is taken to keep none. */
const UNSTEMMED: Partial<Readonly<Record<Script, ReadonlySet<string>>>> = {
  latin: new Set('af az bs cy eo et fil gl hr ht id is jv lb lt lv ms mt pl sk so sq sw tl uz vi xh yo zu'.split(' ')),
  cyrillic: new Set('be bg kk ky mk mn sr tg uk'.split(' ')),
  arabic: new Set('fa ku ps sd ug ur'.split(' ')),
};

/** Scripts whose marks are left out as often as not. In the others a mark makes another word. */
const MARKS_ARE_OPTIONAL: ReadonlySet<Script> = new Set(['latin', 'greek', 'cyrillic', 'hebrew', 'arabic']);

type Respell = (word: string) => string;
const norse: Respell = (word) => word.replaceAll('aa', 'å').replaceAll('ae', 'æ').replaceAll('oe', 'ø');
/**
 * Replaces what people type for letters that a keyboard lacks by the letters, as Snowball's second stemmer of German does. Both spellings
 * become one stem.
 */
const RESPELL: Readonly<Record<string, Respell>> = {
  da: norse,
  de: (word) =>
    word
      .replaceAll('ae', 'ä')
      .replaceAll('oe', 'ö')
      .replaceAll(/(?<![aeqäö])ue/g, 'ü'),
  nb: norse,
  nn: norse,
  no: norse,
};

/**
 * Syllables that some languages put between a verb and its prefix: `angesteckt` and `anzustecken` are forms of `anstecken`. Stems are
 * joined and not words, so that all forms of a word that is no verb (`Angebot`, `Angeboten`) stay one term.
 */
const SEPARATED: Readonly<Record<string, RegExp>> = {
  de: new RegExp(
    '^(ab|an|auf|aus|bei|bereit|dar|durch|ein|entgegen|fest|fort|frei|heim|her|hin(?!zu)|hinzu|los|mit|nach|statt|teil|uber|um|unter|vor|weg|' +
      'weiter|wieder|zu|zuruck|zusammen)(?:zu(\\p{L}{3,})|ge(\\p{L}{3,}?)(?:e?t)?)$',
    'u',
  ),
};

/** Rules that follow a language's algorithm, or replace one. */
const FINISH: Readonly<Record<string, Respell>> = {
  // These consonants soften before an ending: `bedrijf` and `bedrijven`, `huis` and `huizen`.
  nl: (stem) => stem.replace(/v$/, 'f').replace(/z$/, 's'),
  // These are endings of nouns and adjectives: the longest that leaves three letters goes.
  pl: (word) => word.replace(/(?<=\p{L}{3})(?:i?(?:ego|emu|ami|ach|ych|ymi|mi|ów|om|em|ej|ą|ę|a|e|o|u)|ich|imi|owi|owie|i|y)$/u, ''),
};

/** Words that are remembered for each language: a stem takes microseconds, and most words of a text come again. */
const REMEMBERED = 50_000;

export type Stem = (word: string) => string;

const stems = new Map<string, Stem>();

/**
 * Returns the function that reduces a folded word to its term. Words of the language's own script are stemmed by the language's algorithm;
 * words of another script by that of its most usual language, so that searches find a document in another language as well.
 *
 * @param language BCP 47; anything unknown counts as none
 */
export function stemFor(language: string | undefined): Stem {
  const primary = primarySubtag(language);
  const known = Object.hasOwn(ALGORITHMS, primary) || Object.values(UNSTEMMED).some((set) => set.has(primary)) ? primary : '';
  let stem = stems.get(known);
  if (stem === undefined) {
    stem = createStem(known);
    stems.set(known, stem);
  }
  return stem;
}

/** Returns the language of a BCP 47 tag, without script and region; empty for none. */
export function primarySubtag(language: string | undefined): string {
  return (language ?? '').toLowerCase().split(/[-_]/, 1)[0] ?? '';
}

function createStem(language: string): Stem {
  const own = ALGORITHMS[language];
  const byScript = new Map<Script, Stem>();
  for (const [script, name] of Object.entries(USUAL) as [Script, string][]) {
    if (UNSTEMMED[script]?.has(language) === true) continue;
    const stemmer = snowball.newStemmer(own?.script === script ? own.name : name);
    byScript.set(script, (word) => stemmer.stem(word));
  }
  byScript.set('bengali', banglaTerm);
  // Tones are marks in Vietnamese, and every one makes another word.
  const stripsLatin = language !== 'vi';
  const respell = RESPELL[language] ?? same;
  const separated = SEPARATED[language];
  const finish = FINISH[language] ?? same;
  const memory = new Map<string, string>();
  return (word) => {
    const before = memory.get(word);
    if (before !== undefined) return before;
    const script = scriptOf(word);
    const stemmed = (byScript.get(script) ?? same)(script === 'latin' ? respell(word) : word);
    const finished = script === 'latin' ? finish(stemmed) : stemmed;
    const bare = MARKS_ARE_OPTIONAL.has(script) && (script !== 'latin' || stripsLatin) ? withoutMarks(finished) : finished;
    const term = separated === undefined ? bare : bare.replace(separated, '$1$2$3');
    if (memory.size >= REMEMBERED) memory.clear();
    memory.set(word, term === '' ? word : term);
    return term === '' ? word : term;
  };
}

function same(word: string): string {
  return word;
}

function withoutMarks(word: string): string {
  return word.normalize('NFD').replaceAll(/\p{Mn}/gu, '');
}
