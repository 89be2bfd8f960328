/** Puts units behind a number into words: "5 km", "20 °C", "19%", "80 m²". */
import { decimalSignOf, editsOf, NUMBER, readNumber } from './numbers.ts';
import type { Language, Rule } from './rule.ts';
import type { Vocabulary } from '../vocabulary.ts';

/** Units by their sign, as `Intl.NumberFormat` knows them. */
const UNITS: Readonly<Record<string, string>> = {
  km: 'kilometer',
  m: 'meter',
  cm: 'centimeter',
  mm: 'millimeter',
  mi: 'mile',
  ft: 'foot',
  kg: 'kilogram',
  g: 'gram',
  lb: 'pound',
  lbs: 'pound',
  oz: 'ounce',
  l: 'liter',
  L: 'liter',
  ml: 'milliliter',
  ha: 'hectare',
  h: 'hour',
  min: 'minute',
  ms: 'millisecond',
  'km/h': 'kilometer-per-hour',
  mph: 'mile-per-hour',
  kB: 'kilobyte',
  KB: 'kilobyte',
  MB: 'megabyte',
  GB: 'gigabyte',
  TB: 'terabyte',
  '%': 'percent',
  '°C': 'celsius',
  '°F': 'fahrenheit',
};
/** Powers of areas and volumes, which `Intl` doesn't have: they are lengths with a word. */
const POWERS: Readonly<Record<string, 'square' | 'cubic'>> = { '²': 'square', '³': 'cubic' };
const LENGTHS = ['km', 'm', 'cm', 'mm', 'ft', 'mi'];

const SIGNS = [...Object.keys(UNITS), ...LENGTHS.flatMap((length) => Object.keys(POWERS).map((power) => length + power))]
  .toSorted((a, b) => b.length - a.length)
  .join('|');

export function units({ tag, vocabulary }: Language): Rule {
  const decimal = decimalSignOf(tag);
  const pattern = new RegExp(String.raw`(?<![\p{L}\d]|\d[.,:/])(${NUMBER})[ \u00A0\u202F]?(${SIGNS})(?![\p{L}\d²³/])`, 'gu');
  return (text) =>
    editsOf(text, pattern, ([, number = '', sign = '']) => {
      const { value, decimals } = readNumber(number, decimal);
      const [length, power] = [sign.slice(0, -1), POWERS[sign.at(-1)!]];
      const format = new Intl.NumberFormat(tag, {
        style: 'unit',
        unit: UNITS[power === undefined ? sign : length]!,
        unitDisplay: 'long',
        useGrouping: false,
        minimumFractionDigits: decimals,
        maximumFractionDigits: decimals,
      });
      const parts = format.formatToParts(value);
      const unit = parts.findIndex(({ type }) => type === 'unit');
      const form = ['one', 'few'].indexOf(new Intl.PluralRules(tag).select(value));
      const said = (part: string): string | undefined =>
        power === undefined ? part : vocabulary && raised(part, vocabulary[power].at(form)!, vocabulary);
      const name = said(parts[unit]?.value ?? sign);
      return (
        name &&
        parts
          .map(({ value: part }, index) => (index === unit ? name : part))
          .join('')
          .replaceAll(/\s/g, ' ')
      );
    });
}

/** Says an area or a volume: "square metres", "Quadratmeter", "mètres carrés". */
function raised(unit: string, word: string, { and }: Vocabulary): string {
  if (['und', 'och', 'og'].includes(and)) return word + unit.toLowerCase();
  return ['and', 'en'].includes(and) ? `${word} ${unit}` : `${unit} ${word}`;
}
