import { expect, it } from 'vitest';

import { bidirectionalText } from './bidi.ts';

/** Places letters on the page, from the left. */
function seen(text: string): Parameters<typeof bidirectionalText>[0] {
  return Array.from(text, (letter, at) => ({ text: letter, left: at, right: at + 1 }));
}

it.each([
  ['םולש', 'שלום'],
  ['.18:00-ל 9:00 תועשה ןיב', 'בין השעות 9:00 ל-18:00.'],
  ['Say םולש, and wait', 'Say שלום, and wait'],
  ['הלאש לכב םולש Acme Support ונתאמ ךל', 'לך מאתנו Acme Support שלום בכל שאלה'],
  ['50% החנה', 'הנחה 50%'],
])('reads %s', (text, expected) => {
  expect(bidirectionalText(seen(text), 0.5)).toBe(expected);
});

it('keeps a mark with the letter that it stands at, and a ligature as it is', () => {
  const glyphs = [
    { text: 'لا', left: 0, right: 2 },
    { text: '\u064e', left: 2.4, right: 2.4 },
    { text: 'م', left: 2, right: 3 },
  ];
  expect(bidirectionalText(glyphs, 0.5)).toBe('م\u064eلا');
});
