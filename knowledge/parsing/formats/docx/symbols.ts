/** Characters of picture fonts that say yes or no or point somewhere, by their code in the private area. */
const WINGDINGS: Readonly<Record<string, string>> = {
  a7: '•',
  '6f': '☐ ',
  '71': '☐ ',
  a8: '☐ ',
  fe: '☑ ',
  fd: '☒ ',
  fc: '✓',
  fb: '✗',
  e0: '→',
  e8: '→',
  '28': '☎',
  '29': '☎',
  '2a': '✉',
};
const WINGDINGS_2: Readonly<Record<string, string>> = { '4f': '✗', '50': '✓', '51': '☒ ', '52': '☑ ', '53': '☒ ', '54': '☒ ', a3: '☐ ' };
const SYMBOL: Readonly<Record<string, string>> = {
  a3: '≤',
  b3: '≥',
  b1: '±',
  b4: '×',
  b0: '°',
  b7: '•',
  ae: '→',
  '6d': 'µ',
  '57': 'Ω',
  a5: '∞',
};

/** Returns the text for `w:sym`; nothing for other pictures. @see ECMA-376 part 1, 17.3.3.30 */
export function symbol(font = '', char = ''): string {
  const code = Number.parseInt(char, 16);
  if (Number.isNaN(code)) return '';
  const key = (code & 0xff).toString(16);
  if (/^wingdings 2$/iu.test(font)) return WINGDINGS_2[key] ?? '';
  if (/^wingdings/iu.test(font)) return WINGDINGS[key] ?? '';
  if (/^symbol$/iu.test(font)) return SYMBOL[key] ?? '';
  return code < 0xe0_00 || code > 0xf8_ff ? String.fromCodePoint(Math.min(code, 0x10_ffff)) : '';
}
