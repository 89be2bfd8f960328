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
  ])('%j says %j', (said, wanted) => {
    expect(saysText(said, wanted)).toBe(true);
  });

  it.each([
    ['We start at nine.', 'art'],
    ['We are open from nine.', 'six'],
    ['', 'nine'],
    ['It costs 5 $.', '€'],
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
