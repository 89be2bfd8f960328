/** Formats of the numbers of list items. */
export type NumberFormat = 'decimal' | 'decimalZero' | 'lowerLetter' | 'upperLetter' | 'lowerRoman' | 'upperRoman';

const ROMAN = [
  [1000, 'm'],
  [900, 'cm'],
  [500, 'd'],
  [400, 'cd'],
  [100, 'c'],
  [90, 'xc'],
  [50, 'l'],
  [40, 'xl'],
  [10, 'x'],
  [9, 'ix'],
  [5, 'v'],
  [4, 'iv'],
  [1, 'i'],
] as const;

/** Largest number in Roman digits; larger ones are written in Arabic digits. */
const LARGEST_ROMAN = 3999;
const LARGEST_LETTER = 26 * 26;

const WRITERS: Readonly<Record<NumberFormat, (value: number) => string>> = {
  decimal: String,
  decimalZero: (value) => String(value).padStart(2, '0'),
  lowerLetter: letters,
  upperLetter: (value) => letters(value).toUpperCase(),
  lowerRoman: roman,
  upperRoman: (value) => roman(value).toUpperCase(),
};

/** Writes `3`, `03`, `c`, `C`, `iii` or `III`. */
export function formatListNumber(value: number, format: NumberFormat): string {
  return WRITERS[format](value);
}

/** Writes letters: after z comes aa, then bb, as in Word. */
function letters(value: number): string {
  if (value < 1 || value > LARGEST_LETTER) return String(value);
  return String.fromCharCode(97 + ((value - 1) % 26)).repeat(Math.ceil(value / 26));
}

function roman(value: number): string {
  if (value < 1 || value > LARGEST_ROMAN) return String(value);
  let rest = value;
  let text = '';
  for (const [worth, sign] of ROMAN) {
    text += sign.repeat(Math.floor(rest / worth));
    rest %= worth;
  }
  return text;
}
