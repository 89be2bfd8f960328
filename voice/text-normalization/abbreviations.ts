/** Decides whether the full stop of an abbreviation ends a sentence. Abbreviations are in lower case and without it. */

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(' '));

/** Abbreviations that always stand before the words that they shorten, in any language. */
const ALWAYS = setOf('mr mrs ms mx dr prof st approx ca vs cf e.g i.e viz incl excl z.b p.ex p.ej t.ex f.eks');

/** Abbreviations of the same kind by language: elsewhere some of them are words. */
const ALWAYS_IN: Readonly<Record<string, ReadonlySet<string>>> = {
  en: setOf('hon rev gen sgt capt lt messrs mt'),
  de: setOf('hr fr frl d.h u.a bzw vgl sog inkl zzgl evtl ggf ggfs einschl mio mrd'),
  fr: setOf('mme mlle env c.-à-d'),
  es: setOf('sr sra srta dña aprox'),
  it: setOf('sig dott avv ing'),
  pt: setOf('sr sra exmo aprox'),
  nl: setOf('dhr mevr bijv o.a d.w.z mln mld'),
  pl: setOf('np m.in tzw ul mln mld tys'),
  sv: setOf('bl.a resp mn mdr'),
  da: setOf('bl.a hr mio mia'),
};

/** Abbreviations that end nothing where a number follows: "No. 10", "ext. 42". */
const BEFORE_NUMBERS = setOf(
  'no nos nr nrs num núm nº ext tel fax art abs fig pp pag pág vol ch sec para apt min max kr jan feb mar apr jun jul aug sep sept oct nov dec okt dez',
);

/** Languages that write "3." for "third". */
const ORDINAL_STOP = new Set(['de', 'da', 'nb', 'nn', 'no', 'fi', 'pl', 'cs', 'sk', 'hu', 'hr', 'sl', 'sr', 'et', 'lv', 'is', 'tr']);

export type StopMeaning = 'end' | 'none' | 'depends-on-next';

/**
 * Returns the meaning of a full stop behind a word.
 * @param word text before it, up to the white space
 * @param next the first character after it; undefined where it isn't known yet
 * @returns `depends-on-next` only where `next` is undefined
 */
export function meaningOfStop(word: string, next: string | undefined, language: string): StopMeaning {
  const token = word.toLowerCase().replace(/^[^\p{L}\p{N}]+/u, '');
  if (ALWAYS.has(token) || ALWAYS_IN[language]?.has(token)) return 'none';
  if (/^\d+$/.test(token)) return isOrdinal(token, language) ? 'none' : 'end';
  if (BEFORE_NUMBERS.has(token)) return next === undefined ? 'depends-on-next' : /\p{N}/u.test(next) ? 'none' : 'end';
  // A single letter is an abbreviation: "J. Smith", "z. B."; but "so do I." is an end.
  if (/^[\p{sc=Latn}\p{sc=Cyrl}\p{sc=Grek}]$/u.test(token)) return token === 'i' && language === 'en' ? 'end' : 'none';
  // Letters with stops are one, too: "a.m.", "U.S."
  if (/^(?:\p{L}\.)+\p{L}$/u.test(token)) return next === undefined ? 'depends-on-next' : /\p{Lu}/u.test(next) ? 'end' : 'none';
  return 'end';
}

const isOrdinal = (digits: string, language: string): boolean => digits.length <= 2 && ORDINAL_STOP.has(language);
