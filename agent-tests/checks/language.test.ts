import { expect, it } from 'vitest';

import { detectorCode, isKnownLanguage, languageOf } from './language.ts';

it.each([
  ['en', 'We are open from nine to six, Monday to Friday.'],
  ['de', 'Wir haben von neun bis sechs Uhr geöffnet.'],
  ['fr', 'Nous sommes ouverts de neuf heures à dix-huit heures.'],
  ['nl', 'Wij zijn open van negen tot zes.'],
  ['bn', 'আমাদের দোকান খোলা আছে।'],
  ['ja', '九時から六時まで営業しています。'],
])('finds %s by its letters', async (language, text) => {
  expect(await languageOf(text)).toEqual({ language, certain: true });
});

it('is not certain of a word', async () => {
  expect(await languageOf('Okay.')).toMatchObject({ certain: false });
});

it('reads tags', async () => {
  expect([detectorCode('en-US'), detectorCode('nb-NO'), detectorCode('zh-Hant-TW')]).toEqual(['en', 'no', 'zh']);
  expect([await isKnownLanguage('pt-BR'), await isKnownLanguage('tlh')]).toEqual([true, false]);
});
