import { describe, expect, it } from 'vitest';

import { countWords, plainWords, saysText } from './words.ts';

describe('a text that is said', () => {
  it.each([
    ['We are open from Nine to six.', 'nine to six'],
    ["It's shipped!", 'its shipped'],
    ['Order HB-20417 has shipped', 'hb 20417'],
    ['Grüß Gott — schön!', 'GRÜSS'.toLowerCase().replace('ss', 'ß')],
    ['九時から六時まで営業しています。', '六時まで'],
    ['It costs 5 €.', '€'],
    ['That is 12.50.', '12.5'],
    ['Das macht 12,50 €.', '12.50'],
    ['That is 12.00 euros', '12'],
    ['We have 1,000 of them', '1000'],
    ['Es sind 1.234.567,80 Euro', '1,234,567.8'],
    ['It is -5 degrees', '-5'],
    ['It is \u22125 degrees', '-5'],
    ['From 9-5 on weekdays', '5'],
    ['At 9:30, please', '9 30'],
    ['Version 1.2.3', '1.2.3'],
    ['On 1.5.2026', '2026'],
    ['Your number is 007', '007'],
    ['Take 5mg', '5mg'],
  ])('%j says %j', (said, wanted) => {
    expect(saysText(said, wanted)).toBe(true);
  });

  it.each([
    ['We start at nine.', 'art'],
    ['We are open from nine.', 'six'],
    ['', 'nine'],
    ['It costs 5 $.', '€'],
    ['That is 12.50.', '12'],
    ['That is 12.50.', '50'],
    ['That is 12.50.', '12.51'],
    ['It is -5 degrees', '5'],
    ['It is 5 degrees', '-5'],
    ['We have 1,000 of them', '1'],
    ['Your number is 007', '7'],
    ['Take 5mg', '5'],
  ])('%j does not say %j', (said, wanted) => {
    expect(saysText(said, wanted)).toBe(false);
  });

  it('is compared without case and punctuation', () => {
    expect(plainWords('  Well, THAT’s "it": A-1 … ok?')).toBe('well thats it a 1 ok');
  });

  it('has words', () => {
    expect([countWords(''), countWords('Well, that is it.'), countWords('– !')]).toEqual([0, 4, 0]);
  });
});
