/** Words whose full stop doesn't end a sentence, in lower case and without it. */

/** Followed by what they shorten, whatever it is. */
const ALWAYS = new Set(
  (
    'mr mrs ms mx dr prof rev hon st mt gen sgt capt lt messrs hr fr frl dott sig dña sra srta mme mlle ' +
    'approx ca circa vs cf eg ie e.g i.e viz incl excl resp ' +
    'z.b d.h u.a bzw vgl sog inkl zzgl evtl ggf ggfs einschl mio mrd mln mld tys ' +
    'p.ex env c.-à-d p.ej aprox d.w.z bijv o.a np m.in tzw ul t.ex bl.a f.eks bl.a'
  ).split(' '),
);

/** No end where a number follows: "No. 10", "ext. 42". */
const BEFORE_NUMBERS = new Set(
  (
    'no nos nr nrs num núm nº ext tel fax art abs fig p pp pag pág s vol ch sec para apt min max ' +
    'jan feb mar apr jun jul aug sep sept oct nov dec okt dez'
  ).split(' '),
);

/** Languages that write "3." for "third". */
const ORDINAL_STOP = new Set(['de', 'da', 'nb', 'nn', 'no', 'fi', 'pl', 'cs', 'sk', 'hu', 'hr', 'sl', 'sr', 'et', 'lv', 'is', 'tr']);

export type StopMeaning = 'end' | 'none' | 'depends-on-next';

/**
 * What a full stop behind a word means.
 * @param word what stands before it, up to the white space
 * @param next the first character of what follows; undefined where it isn't known yet
 * @returns `depends-on-next` only where `next` is undefined
 */
export function meaningOfStop(word: string, next: string | undefined, language: string): StopMeaning {
  const token = word.toLowerCase().replace(/^[^\p{L}\p{N}]+/u, '');
  if (ALWAYS.has(token)) return 'none';
  if (/^\d+$/.test(token)) return isOrdinal(token, language) ? 'none' : 'end';
  if (BEFORE_NUMBERS.has(token)) return next === undefined ? 'depends-on-next' : /\p{N}/u.test(next) ? 'none' : 'end';
  // "J. Smith", "z. B."; "so do I." is an end.
  if (/^\p{L}$/u.test(token)) return token === 'i' && language === 'en' ? 'end' : 'none';
  // "a.m.", "U.S."
  if (/^(?:\p{L}\.)+\p{L}$/u.test(token)) return next === undefined ? 'depends-on-next' : /\p{Lu}/u.test(next) ? 'end' : 'none';
  return 'end';
}

const isOrdinal = (digits: string, language: string): boolean => digits.length <= 2 && ORDINAL_STOP.has(language);
