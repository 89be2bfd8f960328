import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { MappedText, REPLACED } from './mapped-text.ts';

describe('a text that was edited', () => {
  const edited = MappedText.of('It is **4 km** away.').edit([
    { from: 6, to: 8, spoken: '' },
    { from: 12, to: 14, spoken: '' },
  ]);

  it('keeps what was written', () => {
    expect(edited).toMatchObject({ written: 'It is **4 km** away.', spoken: 'It is 4 km away.', text: 'It is 4 km away.' });
  });

  it('hides what was replaced from later edits', () => {
    const again = edited.edit([{ from: 6, to: 10, spoken: '4 kilometres' }]);
    expect(again).toMatchObject({ written: edited.written, spoken: 'It is 4 kilometres away.', text: `It is ${REPLACED} away.` });
    expect(again.edit([{ from: 0, to: 2, spoken: 'That' }]).spoken).toBe('That is 4 kilometres away.');
  });

  it('edits across what is not spoken', () => {
    const across = edited.edit([{ from: 3, to: 10, spoken: 'is four kilometres' }]);
    expect(across).toMatchObject({ written: edited.written, spoken: 'It is four kilometres away.' });
  });
});

describe('what was heard up to a share of the sound', () => {
  const price = MappedText.of('It is **$4.50** 👍 now').edit([
    { from: 6, to: 8, spoken: '' },
    { from: 8, to: 13, spoken: '4 dollars and 50 cents' },
    { from: 13, to: 15, spoken: '' },
    { from: 15, to: 18, spoken: '' },
  ]);
  it.each([
    [0, ''],
    [2, 'It'],
    [5, 'It is'],
    // The amount is begun, and not over.
    [20, 'It is '],
    [27, 'It is '],
    [28, 'It is **$4.50** 👍'],
    [30, 'It is **$4.50** 👍 '],
    [32, 'It is **$4.50** 👍 now'],
  ])('%d of 32 characters: %s', (characters, expected) => {
    expect(price.spoken).toHaveLength(32);
    expect(price.heardUpTo(characters / 32).trimEnd()).toBe(expected.trimEnd());
  });

  it('leaves out a number that was not finished', () => {
    const text = MappedText.of('at 10:30 and 4,200 or 3-4.');
    expect(text.heardUpTo(6 / 26)).toBe('at ');
    expect(text.heardUpTo(8 / 26)).toBe('at 10:30');
    expect(text.heardUpTo(16 / 26)).toBe('at 10:30 and ');
    expect(text.heardUpTo(23 / 26)).toBe('at 10:30 and 4,200 or ');
  });

  it('has words in languages without spaces', () => {
    const heard = MappedText.of('電話がありました。').heardUpTo(4 / 9);
    expect(heard.length).toBeGreaterThan(1);
    expect(heard.length).toBeLessThanOrEqual(4);
  });
});

it('what was heard grows with the sound, up to all of it', () => {
  const edits = fc.array(fc.tuple(fc.nat(9), fc.integer({ min: 1, max: 5 }), fc.constantFrom('', 'x', 'four words are said')), {
    maxLength: 6,
  });
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(...'ab1 *.'.split('')), minLength: 1, maxLength: 60 }),
      fc.array(edits, { maxLength: 3 }),
      (written, rounds) => {
        let text = MappedText.of(written);
        for (const round of rounds) {
          let at = 0;
          text = text.edit(
            round.flatMap(([gap, length, spoken]) => {
              const [from, to] = [at + gap, at + gap + length];
              if (to > text.text.length) return [];
              at = to;
              return [{ from, to, spoken }];
            }),
          );
          expect(text.written).toBe(written);
        }
        let before = '';
        for (let share = 0; share <= 1; share += 1 / 32) {
          const heard = text.heardUpTo(share);
          expect(written.startsWith(heard)).toBe(true);
          expect(heard.length).toBeGreaterThanOrEqual(before.length);
          before = heard;
        }
        expect(text.heardUpTo(1)).toBe(written);
      },
    ),
  );
});
