/** Finds personal data that has a shape: numbers with a check digit, telephone numbers, addresses of e-mail and dates of birth. Pure. */
import { digitRunsIn, tokensIn, type DigitGroup } from './digit-runs.ts';
import { ibanLength } from './iban-lengths.ts';
import { numberWordsOf } from './number-words.ts';

export interface Place {
  readonly start: number;
  readonly end: number;
}

const CARD_LENGTHS = { least: 13, most: 19 } as const;
/** Fewest digits of a telephone number without a country's. */
const SHORTEST_PHONE = 7;
const LONGEST_PHONE = 15;

/** Finds numbers of payment cards: 13 to 19 digits with the check digit of ISO/IEC 7812, in any grouping, written or said. */
export function findCards(text: string, language: string): readonly Place[] {
  return digitRunsIn(text, language).flatMap((run) => cardsIn(run.groups));
}

function cardsIn(groups: readonly DigitGroup[]): readonly Place[] {
  for (let from = 0; from < groups.length; from += 1) {
    for (let to = groups.length; to > from; to -= 1) {
      const part = groups.slice(from, to);
      if (!isCard(part.map(({ digits }) => digits).join(''))) continue;
      return [{ start: part[0]!.start, end: part.at(-1)!.end }, ...cardsIn(groups.slice(to))];
    }
  }
  return [];
}

/** @param digits ASCII */
export function isCard(digits: string): boolean {
  // Numbers of the great schemes begin so; other numbers with a check digit, such as an IMEI or a time in milliseconds, mostly don't.
  return digits.length >= CARD_LENGTHS.least && digits.length <= CARD_LENGTHS.most && /^[2-6]/.test(digits) && luhn(digits);
}

function luhn(digits: string): boolean {
  const sum = Array.from(digits)
    .reverse()
    .reduce((total, digit, index) => {
      const value = Number(digit) * (index % 2 === 0 ? 1 : 2);
      return total + (value > 9 ? value - 9 : value);
    }, 0);
  return sum % 10 === 0;
}

/** Finds IBANs (ISO 13616) by their country's length and their check digits, also where they are spelled. */
export function findIbans(text: string, language: string): readonly Place[] {
  const pieces = ibanPieces(text, language);
  const found: Place[] = [];
  for (let from = 0; from < pieces.length; from += 1) {
    const place = ibanAt(pieces, from);
    if (place === undefined) continue;
    found.push(place);
    while (from + 1 < pieces.length && pieces[from + 1]!.start < place.end) from += 1;
  }
  return found;
}

interface Piece extends Place {
  readonly signs: string;
}

/** Returns the letters and digits that may stand in an IBAN; an empty piece where something else breaks it. */
function ibanPieces(text: string, language: string): readonly Piece[] {
  const groups = new Map(digitRunsIn(text, language).flatMap((run) => run.groups.map((group) => [group.start, group] as const)));
  const pieces: Piece[] = [];
  let behind = 0;
  for (const { text: token, start, end, word } of tokensIn(text)) {
    if (start < behind) continue;
    const group = groups.get(start);
    if (group !== undefined) pieces.push({ signs: group.digits, start, end: (behind = group.end) });
    else if (word === undefined) {
      if (/^\p{Nd}/u.test(token)) pieces.push({ signs: token, start, end });
      else if (!'-.,'.includes(token)) pieces.push({ signs: '', start, end });
    } else pieces.push({ signs: /^[A-Za-z]{1,30}$/.test(token) ? token.toUpperCase() : '', start, end });
  }
  return pieces;
}

function ibanAt(pieces: readonly Piece[], from: number): Place | undefined {
  let signs = '';
  for (const { signs: more, end } of pieces.slice(from)) {
    if (more === '') return undefined;
    signs += more;
    const length = signs.length < 2 ? undefined : ibanLength(signs.slice(0, 2));
    if (signs.length >= 2 && length === undefined) return undefined;
    if (length === undefined || signs.length < length) continue;
    return signs.length === length && mod97(signs) ? { start: pieces[from]!.start, end } : undefined;
  }
  return undefined;
}

function mod97(iban: string): boolean {
  if (!/^[A-Z]{2}\d{2}[A-Z0-9]+$/.test(iban)) return false;
  const digits = `${iban.slice(4)}${iban.slice(0, 4)}`.replaceAll(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
  return Array.from(digits).reduce((rest, digit) => (rest * 10 + Number(digit)) % 97, 0) === 1;
}

/** Finds telephone numbers: in international form, in the forms that countries write and say their own in, and dictated ones. */
export function findPhones(text: string, language: string): readonly Place[] {
  return digitRunsIn(text, language).flatMap(({ groups }) => partsAtCommas(text, groups).flatMap((part) => phoneIn(text, part)));
}

/** Cuts a run of written digits at commas: they separate numbers. Between digits that are said they are pauses. */
function partsAtCommas(text: string, groups: readonly DigitGroup[]): readonly (readonly DigitGroup[])[] {
  const parts: DigitGroup[][] = [];
  for (const group of groups) {
    const before = parts.at(-1)?.at(-1);
    const isApart = before !== undefined && !(before.spoken && group.spoken) && text.slice(before.end, group.start).includes(',');
    if (before === undefined || isApart) parts.push([group]);
    else parts.at(-1)!.push(group);
  }
  return parts;
}

/** A run is a number only where it isn't part of a name, an identifier, an amount or a date. */
function phoneIn(text: string, groups: readonly DigitGroup[]): readonly Place[] {
  const run = { start: groups[0]!.start, end: groups.at(-1)!.end };
  const before = text.slice(0, run.start);
  const behind = text.slice(run.end);
  if (/[\p{L}\p{Nd}_#€$£][-_:]?$/u.test(before) || /^[-_:]?[\p{L}_]/u.test(behind) || /^\s?[%€$£]/u.test(behind)) return [];
  const digits = groups.map((group) => group.digits).join('');
  const written = text.slice(run.start, run.end);
  const international = /(?:\+|\bplus\s|\bplus\s?)\(?$/iu.exec(before);
  const start = international === null ? run.start : run.start - international[0].length;
  // A bracket that opens a number belongs to it.
  const place = { start: international === null && before.endsWith('(') ? start - 1 : start, end: run.end };
  if (international !== null) return fits(digits, SHORTEST_PHONE, LONGEST_PHONE) ? [place] : [];
  if (/^\d{1,4}([./-])\d{1,2}\1\d{1,4}$/.test(written) || /^\d+[.,]\d+$/.test(written)) return [];
  const spoken = groups.filter((group) => group.spoken).length * 2 > groups.length;
  if (spoken) return fits(digits, SHORTEST_PHONE, LONGEST_PHONE) ? [place] : [];
  if (digits.startsWith('0')) return fits(digits, SHORTEST_PHONE, LONGEST_PHONE + 2) ? [place] : [];
  const grouped = groups.map((group) => group.digits.length).join(' ');
  const american = /^1?[2-9]\d{2}[2-9]\d{6}$/.test(digits) && /^(?:1 )?(?:10|11|3 3 4|3 7)$/.test(grouped);
  return american || (grouped === '3 4' && written.includes('-')) ? [place] : [];
}

const fits = ({ length }: string, least: number, most: number): boolean => length >= least && length <= most;

const LOCAL = String.raw`[\p{L}\p{Nd}](?:[\p{L}\p{Nd}._%+-]{0,63})`;
const EMAIL = new RegExp(String.raw`${LOCAL}@[\p{L}\p{Nd}-]{1,63}(?:\.[\p{L}\p{Nd}-]{1,63}){1,8}`, 'gu');
const DOT = '(?:dot|punkt|punto|point|punt|ponto|kropka)';
const AT = '(?:at|ät|arroba|arobase|chiocciola|klammeraffe|apenstaartje|małpa)';
const SIGN = String.raw`(?:${DOT}|underscore|unterstrich|dash|hyphen|minus|bindestrich|guion|tiret)`;
const PART = String.raw`[\p{L}\p{Nd}][\p{L}\p{Nd}_-]{0,40}`;
/** "jane dot doe at example dot com": what is behind the last dot is short. */
const SPOKEN_EMAIL = new RegExp(
  String.raw`(?<![\p{L}\p{Nd}])${PART}(?:(?:\s${SIGN}\s|\.)${PART}){0,6}\s${AT}\s${PART}(?:\s(?:${SIGN}\s)?${PART}){0,4}?(?:\s${DOT}\s|\.)\p{L}{2,6}(?![\p{L}\p{Nd}])`,
  'giu',
);

/** Finds addresses of e-mail, written or said. */
export function findEmails(text: string): readonly Place[] {
  return [EMAIL, SPOKEN_EMAIL].flatMap((pattern) =>
    [...text.matchAll(pattern)].map(({ 0: match, index }) => ({ start: index, end: index + match.length })),
  );
}

const MONTHS: Readonly<Record<string, string>> = {
  en: 'january,february,march,april,may,june,july,august,september,october,november,december',
  de: 'januar,februar,märz,april,mai,juni,juli,august,september,oktober,november,dezember',
  es: 'enero,febrero,marzo,abril,mayo,junio,julio,agosto,septiembre,octubre,noviembre,diciembre',
  fr: 'janvier,février,mars,avril,mai,juin,juillet,août,septembre,octobre,novembre,décembre',
  it: 'gennaio,febbraio,marzo,aprile,maggio,giugno,luglio,agosto,settembre,ottobre,novembre,dicembre',
  nl: 'januari,februari,maart,april,mei,juni,juli,augustus,september,oktober,november,december',
  pt: 'janeiro,fevereiro,março,abril,maio,junho,julho,agosto,setembro,outubro,novembro,dezembro',
  pl: 'stycznia,lutego,marca,kwietnia,maja,czerwca,lipca,sierpnia,września,października,listopada,grudnia',
};
const MONTH = `(?:${[...new Set(Object.values(MONTHS).flatMap((names) => names.split(',')))].join('|')})`;
const YEAR = String.raw`(?<year>(?:19|20)\d{2})`;
const DAY = String.raw`(?:0?[1-9]|[12]\d|3[01])`;
const BEFORE = String.raw`(?<![\p{L}\p{Nd}./-])`;
const BEHIND = String.raw`(?![\p{L}\p{Nd}]|[./-]\p{Nd})`;
const DATES = [
  String.raw`${DAY}([./-])\s?(?:0?[1-9]|1[0-2])\1\s?${YEAR}`,
  String.raw`(?:0?[1-9]|1[0-2])([/-])${DAY}\1${YEAR}`,
  String.raw`${YEAR}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])`,
  String.raw`${DAY}(?:st|nd|rd|th|er|º|\.)?\s(?:of\s|de\s)?${MONTH}\.?,?\s(?:of\s|de\s|del\s)?${YEAR}`,
  String.raw`${MONTH}\s${DAY}(?:st|nd|rd|th)?,?\s${YEAR}`,
].map((pattern) => new RegExp(`${BEFORE}${pattern}${BEHIND}`, 'giu'));
/** Words that say of what is behind them, however it is said, that it is a date of birth. */
const BORN = String.raw`(?:born|birth\s?day|birth\s?date|date\sof\sbirth|geboren|geburtsdatum|geburtstag|nacimiento|nacid[oa]|naissance|née?|nascita|nat[oa]|geboortedatum|nascimento|nascid[oa]|urodzenia|urodzon[ya])`;
/** The date behind such a word: in digits, or up to the name of its month. Its year follows. */
const AFTER_BORN = new RegExp(
  String.raw`(?<![\p{L}])${BORN}(?![\p{L}])[^\p{Nd}.!?\n]{0,24}?(?<date>\p{Nd}{1,2}([./-])\p{Nd}{1,2}\2\p{Nd}{2,4}|(?:the\s)?(?:${DAY}|\p{L}{3,24})(?:st|nd|rd|th|er|º|\.)?\s(?:of\s|de\s)?${MONTH}(?!\p{L})|(?<!\p{L})${MONTH}\s(?:the\s)?(?:${DAY}|\p{L}{3,24})(?:st|nd|rd|th)?(?!\p{L}))`,
  'giu',
);
/** Words of a year beside those of numbers below a hundred. */
const HUNDREDS =
  /^(?:of|de|del|and|y|e|et|und|hundred|thousand|mil|mille|cent|cents|cento|honderd|\p{L}*(?:hundert|tausend|honderd|duizend)\p{L}*|mille\p{L}+|due?mila\p{L}*)$/u;

/**
 * Finds dates of birth: whole dates of a year that is over, and those that are said to be one. A date of this year, or of one to come, is
 * an appointment.
 */
export function findBirthDates(
  text: string,
  { language, thisYear }: { readonly language: string; readonly thisYear: number },
): readonly Place[] {
  const dates = DATES.flatMap((pattern) => Array.from(text.matchAll(pattern)))
    .filter(({ groups }) => Number(groups?.['year']) < thisYear)
    .map(({ 0: match, index }) => ({ start: index, end: index + match.length }));
  const said = [...text.matchAll(AFTER_BORN)].map(({ 0: match, index, groups }) => {
    const date = groups?.['date'] ?? match;
    const end = index + match.length;
    return { start: end - date.length, end: /\p{L}/u.test(date) ? endOfYear(text, end, language) : end };
  });
  return [...dates, ...said];
}

/** Returns where a year that follows ends, in digits or in words. */
function endOfYear(text: string, from: number, language: string): number {
  const { digits } = numberWordsOf(language);
  let end = from;
  for (const { text: token, word, end: behind } of tokensIn(text).filter(({ start }) => start >= from)) {
    const isYear = word === undefined ? /^(?:\p{Nd}{1,4}|[-,.])$/u.test(token) : digits.has(word) || HUNDREDS.test(word);
    if (!isYear) break;
    if (word === undefined ? /^\p{Nd}/u.test(token) : !/^(?:of|de|del|and|y|e|et|und)$/.test(word)) end = behind;
  }
  return end;
}
