/** The words that take the place of signs, by language. What `Intl` knows (currencies, units, months) isn't here. */

export type Forms = readonly [one: string, few: string, more: string];

export interface Vocabulary {
  readonly and: string;
  readonly or: string;
  /** Word between the ends of a range. */
  readonly to: string;
  /** Word in front of struck out text. */
  readonly formerly: string;
  /** Words for signs in e-mail and web addresses. */
  readonly signs: Readonly<Record<string, string>>;
  /** Says the hundredths behind a whole amount: "4200 dollars and 50 cents". */
  readonly hundredths: (count: number, currency: string) => string | undefined;
  /** Says a currency behind a million or more: "5 millones de dólares". Absent where nothing stands in between. */
  readonly millionsOf?: (currency: string) => string;
  /** Pattern of stage directions, as the writer of a play puts them into brackets: "(laughs)". */
  readonly stageDirections: RegExp;
  /** Says a time of the day; minutes are undefined where none were written. Undefined where digits are read well. */
  readonly time?: (hour: number, minute: number | undefined) => string;
  /** Words for areas and volumes, which `Intl` doesn't have: with one, with few and with more. */
  readonly square: Forms;
  readonly cubic: Forms;
}

const SIGNS = '@./-_?=&#+:%~';

/** Lists words for signs. @param names of the signs, in their order */
const signs = (names: string): Vocabulary['signs'] => Object.fromEntries(names.split('|').map((name, index) => [SIGNS[index]!, name]));

const CENTS: Readonly<Record<string, readonly [one: string, more: string]>> = {
  USD: ['cent', 'cents'],
  EUR: ['cent', 'cents'],
  GBP: ['penny', 'pence'],
};

const same = (form: string): Forms => [form, form, form];

/** Says a time as in "14 Uhr 30". */
const hoursAnd =
  (one: string, more: string) =>
  (hour: number, minute = 0): string =>
    `${hour} ${hour === 1 ? one : more}${minute === 0 ? '' : ` ${minute}`}`;

function englishTime(hour: number, minute = 0): string {
  const minutes = minute === 0 ? '' : `:${String(minute).padStart(2, '0')}`;
  if (hour === 0 || hour > 12) return `${hour % 12 || 12}${minutes} ${hour < 12 ? 'AM' : 'PM'}`;
  return minute === 0 ? `${hour} o'clock` : `${hour}${minutes}`;
}

/** Matches words in brackets. @param words in lower case, separated by bars */
const inBrackets = (words: string): RegExp => new RegExp(String.raw`^(?:\((?:${words})[.!…]?\)|\[(?:${words})[.!…]?\](?![([]))`, 'iu');

const VOCABULARIES: Readonly<Record<string, Vocabulary>> = {
  en: {
    and: 'and',
    or: 'or',
    to: 'to',
    formerly: 'formerly',
    signs: signs('at|dot|slash|dash|underscore|question mark|equals|and|hash|plus|colon|percent|tilde'),
    hundredths: (count, currency) => CENTS[currency] && `and ${count} ${CENTS[currency][count === 1 ? 0 : 1]}`,
    time: englishTime,
    stageDirections: inBrackets(
      '(?:\\p{L}+ly )?(?:laugh(?:s|ing|ter)?|chuckl(?:es?|ing)|giggl(?:es?|ing)|sigh(?:s|ing)?|smil(?:es?|ing)|gasps?|coughs?|whisper(?:s|ing)?|pauses?|groans?|yawns?|sniffs?|nods?|winks?|(?:clears|clearing) (?:his |her |my )?throat)(?: \\p{L}+ly)?',
    ),
    square: same('square'),
    cubic: same('cubic'),
  },
  de: {
    and: 'und',
    or: 'oder',
    to: 'bis',
    formerly: 'vorher',
    signs: signs('at|Punkt|Schrägstrich|Bindestrich|Unterstrich|Fragezeichen|gleich|und|Raute|plus|Doppelpunkt|Prozent|Tilde'),
    hundredths: String,
    time: hoursAnd('Uhr', 'Uhr'),
    stageDirections: inBrackets(
      '(?:leise |laut |kurz )?(?:lach(?:t|end|en)|kicher(?:t|nd)|schmunzel(?:t|nd)|lächel(?:t|nd)|seufz(?:t|end|er)|räuspert sich|hustet|flüster(?:t|nd)|pause|zwinkert|nickt|gähnt|stöhnt)',
    ),
    square: same('Quadrat'),
    cubic: same('Kubik'),
  },
  fr: {
    and: 'et',
    or: 'ou',
    to: 'à',
    formerly: 'avant',
    signs: signs(`arobase|point|barre oblique|tiret|tiret bas|point d'interrogation|égal|et|dièse|plus|deux-points|pour cent|tilde`),
    hundredths: String,
    time: hoursAnd('heure', 'heures'),
    millionsOf: (currency) => (/^[aeiouyéh]/i.test(currency) ? `d'${currency}` : `de ${currency}`),
    stageDirections: inBrackets(
      'rit|rires?|(?:en )?riant|sourit|sourire|(?:en )?souriant|soupire?|glousse|tousse|se racle la gorge|chuchote|en chuchotant|pause|hoche la tête|bâille',
    ),
    square: ['carré', 'carrés', 'carrés'],
    cubic: ['cube', 'cubes', 'cubes'],
  },
  es: {
    and: 'y',
    or: 'o',
    to: 'a',
    formerly: 'antes',
    signs: signs('arroba|punto|barra|guion|guion bajo|signo de interrogación|igual|y|almohadilla|más|dos puntos|por ciento|tilde'),
    hundredths: (count) => `con ${count}`,
    millionsOf: (currency) => `de ${currency}`,
    stageDirections: inBrackets(
      '(?:se )?ríe|risas?|(?:se )?sonríe|riendo|sonriendo|suspir[ao]|suspirando|carraspea|tose|susurra(?:ndo)?|pausa|asiente|bosteza|guiña un ojo',
    ),
    square: ['cuadrado', 'cuadrados', 'cuadrados'],
    cubic: ['cúbico', 'cúbicos', 'cúbicos'],
  },
  it: {
    and: 'e',
    or: 'o',
    to: 'a',
    formerly: 'prima',
    signs: signs('chiocciola|punto|barra|trattino|trattino basso|punto interrogativo|uguale|e|cancelletto|più|due punti|percento|tilde'),
    hundredths: (count) => `e ${count}`,
    millionsOf: (currency) => `di ${currency}`,
    stageDirections: inBrackets(
      'rid(?:e|endo)|risat[ae]|ridacchia|sorrid(?:e|endo)|sospir[ao]|sospirando|tossisce|si schiarisce la voce|sussurra(?:ndo)?|pausa|annuisce|sbadiglia',
    ),
    square: ['quadrato', 'quadrati', 'quadrati'],
    cubic: ['cubo', 'cubi', 'cubi'],
  },
  pt: {
    and: 'e',
    or: 'ou',
    to: 'a',
    formerly: 'antes',
    signs: signs('arroba|ponto|barra|hífen|sublinhado|ponto de interrogação|igual|e|cardinal|mais|dois pontos|por cento|til'),
    hundredths: (count) => `e ${count}`,
    time: (hour, minute = 0) => `${hour} ${hour === 1 ? 'hora' : 'horas'}${minute === 0 ? '' : ` e ${minute}`}`,
    millionsOf: (currency) => `de ${currency}`,
    stageDirections: inBrackets(
      'ri|risos?|rindo|sorri(?:ndo)?|gargalha|suspir[ao]|suspirando|tosse|pigarreia|sussurra(?:ndo)?|pausa|acena|boceja',
    ),
    square: ['quadrado', 'quadrados', 'quadrados'],
    cubic: ['cúbico', 'cúbicos', 'cúbicos'],
  },
  nl: {
    and: 'en',
    or: 'of',
    to: 'tot',
    formerly: 'voorheen',
    signs: signs('apenstaartje|punt|schuine streep|streepje|laag streepje|vraagteken|is|en|hekje|plus|dubbele punt|procent|tilde'),
    hundredths: String,
    time: hoursAnd('uur', 'uur'),
    stageDirections: inBrackets(
      '(?:zachtjes )?(?:lacht|lachend|gelach|grinnikt|giechelt|glimlacht|zucht|zuchtend|hoest|schraapt (?:zijn |haar |de )?keel|fluister(?:t|end)|pauze|knikt|gaapt|knipoogt)',
    ),
    square: same('vierkante'),
    cubic: same('kubieke'),
  },
  pl: {
    and: 'i',
    or: 'lub',
    to: 'do',
    formerly: 'wcześniej',
    signs: signs('małpa|kropka|ukośnik|myślnik|podkreślnik|znak zapytania|równa się|i|krzyżyk|plus|dwukropek|procent|tylda'),
    hundredths: String,
    stageDirections: inBrackets(
      'śmiech|śmieje się|ze śmiechem|chichocze|uśmiecha się|z uśmiechem|wzdycha|westchnienie|kaszle|odchrząkuje|szepcze|szeptem|pauza|kiwa głową|ziewa',
    ),
    square: ['kwadratowy', 'kwadratowe', 'kwadratowych'],
    cubic: ['sześcienny', 'sześcienne', 'sześciennych'],
  },
  sv: {
    and: 'och',
    or: 'eller',
    to: 'till',
    formerly: 'tidigare',
    signs: signs('snabel-a|punkt|snedstreck|bindestreck|understreck|frågetecken|lika med|och|nummertecken|plus|kolon|procent|tilde'),
    hundredths: (count) => `och ${count}`,
    stageDirections: inBrackets('skrattar?|skrattande|fnissar|ler|leende|suckar?|hostar|harklar sig|viskar|viskande|paus|nickar|gäspar'),
    square: same('kvadrat'),
    cubic: same('kubik'),
  },
  da: {
    and: 'og',
    or: 'eller',
    to: 'til',
    formerly: 'tidligere',
    signs: signs('snabel-a|punktum|skråstreg|bindestreg|understreg|spørgsmålstegn|lig med|og|havelåge|plus|kolon|procent|tilde'),
    hundredths: (count) => `og ${count}`,
    stageDirections: inBrackets(
      'ler|griner|grinende|latter|fniser|smiler|smilende|sukk?(?:er)?|hoster|rømmer sig|hvisker|hviskende|pause|nikker|gaber',
    ),
    square: same('kvadrat'),
    cubic: same('kubik'),
  },
};

/** Returns the words of a language; undefined for one that has none here. @param language BCP 47 tag */
export const vocabularyOf = (language: string): Vocabulary | undefined => VOCABULARIES[language.toLowerCase().split('-')[0] ?? ''];
