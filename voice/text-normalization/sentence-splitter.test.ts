import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { SentenceSplitter } from './sentence-splitter.ts';

function split(language: string, pieces: readonly string[]): readonly string[] {
  const splitter = new SentenceSplitter(language);
  return [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.end()];
}

const trimmed = (pieces: readonly string[]): readonly string[] => pieces.map((piece) => piece.trim());

it('gives a sentence away with the white space behind it, and not before', () => {
  const splitter = new SentenceSplitter('en-US');
  expect(splitter.push('Your bicycle is ready for you.')).toEqual([]);
  expect(splitter.push(' Come')).toEqual(['Your bicycle is ready for you. ']);
  expect(splitter.end()).toEqual(['Come']);
});

it('keeps short sentences with the next, except the first of each answer', () => {
  const splitter = new SentenceSplitter('en');
  expect(splitter.push('Sure. Yes. No. I will ask Mr. Smith about that now. Bye.')).toEqual([
    'Sure. ',
    'Yes. No. I will ask Mr. Smith about that now. ',
  ]);
  expect(splitter.end()).toEqual(['Bye.']);
  expect(splitter.push('Well. Then.')).toEqual(['Well. ']);
});

describe('no sentence ends', () => {
  it.each([
    ['en', 'We are in the house near No. 10 today'],
    ['en', 'You reach her when you dial ext. 42 now'],
    ['en', 'The rest is the tax, i.e. 19% of the price'],
    ['en', 'Bring something for it, e.g. a paper bag'],
    ['en', 'Ask for Mr. Smith or for Dr. J. Miller there'],
    ['en', 'It takes approx. ten minutes from the station'],
    ['en', 'It is open from 9 a.m. to 5 p.m. each day'],
    ['en', 'Go to https://a.dev/path/to?x=1&y=2#top then'],
    ['en', 'The value of pi is 3.14159 or thereabouts'],
    ['de', 'Bringen Sie etwas mit, z. B. eine Tasche'],
    ['de', 'Das ist am 3. Mai, oder am 20. Juni bei Nr. 7'],
    ['da', 'Det koster for det meste 3 mio. kroner'],
    ['fr', 'Demandez M. Dupont au bureau n. 5 demain'],
  ])('in %s: %s', (language, text) => {
    const splitter = new SentenceSplitter(language);
    splitter.push('First. ');
    expect(splitter.push(`${text} and so`)).toEqual([]);
  });
});

describe('a sentence ends', () => {
  it.each([
    ['en', 'hello there my friend. ', 'we open at nine in the morning'],
    ['en', 'We are in the house at No. 10. ', 'Come and see us'],
    ['en', 'Is that really so? ', 'Yes, it is as I said'],
    ['en', 'We close at 5 p.m. ', 'Then we go home'],
    ['en', 'He said "I will be there." ', 'Then he left us'],
    ['en', '**This is really important.** ', 'And this is not'],
    ['en', 'I said no. ', 'We can not do that'],
    ['zh-CN', '您的自行车已经修好了。', '请明天上午来取。'],
    ['zh-CN', '太好了,我们很高兴能帮助您!', '明天见'],
    ['ja', '電話番号を教えてください。', 'お待ちしております。'],
    ['ko', '네. ', '알겠습니다. 잠시만 기다려 주세요'],
    ['sv', 'Det var verkligen inte hon. ', 'Det var någon annan'],
    ['it', 'Questo ombrello è mio. ', 'Quello è di mia sorella'],
    ['hi', 'आपकी साइकिल तैयार है। ', 'कृपया कल सुबह आइए'],
    ['ar', 'هل تريد أن أحجز لك موعدا؟ ', 'نحن نفتح في التاسعة'],
    ['en', 'Sat: from ten o’clock on\n', 'Sun: closed all day'],
  ])('in %s: %s', (language, first, second) => {
    expect(split(language, [first + second])).toEqual([first, second]);
    expect(split(language, Array.from(first + second))).toEqual([first, second]);
  });
});

it('cuts Thai, which has no full stops, at its spaces', () => {
  const text = 'จักรยานของคุณพร้อมแล้ว กรุณามารับพรุ่งนี้เช้าตั้งแต่เก้าโมง มีอะไรให้ช่วยอีกไหมครับ '.repeat(3);
  const pieces = split('th', [text]);
  expect(pieces.length).toBeGreaterThan(3);
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(100);
});

describe('the first piece', () => {
  it('goes at a comma after forty characters', () => {
    const splitter = new SentenceSplitter('en');
    expect(splitter.push('Well, ')).toEqual([]);
    expect(splitter.push('as far as I can see from here in our calendar, ')).toEqual([]);
    expect(splitter.push('we')).toEqual(['Well, as far as I can see from here in our calendar, ']);
    expect(splitter.push(' can offer you an appointment on the day after tomorrow, in')).toEqual([]);
  });

  it('does not go within a date, an address or a link', () => {
    const first = new SentenceSplitter('en');
    expect(first.push('The appointment that you have asked for is on December 3, 2026 at')).toEqual([]);
    const range = new SentenceSplitter('en');
    expect(range.push('The repair that you have asked us for takes 10 – 14 days')).toEqual([]);
    const link = new SentenceSplitter('en');
    expect(link.push('You find it in what we have written [about bicycles, and cars')).toEqual([]);
  });

  it('goes at a comma of other scripts', () => {
    expect(split('zh', ['您的自行车我们昨天下午已经修好了，请明天上午来取'])[0]).toBe('您的自行车我们昨天下午已经修好了，');
    expect(split('ar', ['يمكننا أن نقدم لك موعدا في الأسبوع القادم يوم الاثنين، أو يوم الثلاثاء'])[0]).toMatch(/،$/);
  });

  it('goes between two words in a hurry', () => {
    const splitter = new SentenceSplitter('en');
    expect(splitter.push('I have just')).toEqual([]);
    expect(splitter.isAwaited).toBe(true);
    expect(splitter.hurry()).toEqual([]);
    expect(splitter.push(' looked in')).toEqual(['I have just looked ']);
    expect(splitter.isAwaited).toBe(false);
    expect(splitter.push(' the calendar')).toEqual([]);
    expect(splitter.end()).toEqual(['in the calendar']);
  });

  it('does not go beside a number in a hurry', () => {
    const splitter = new SentenceSplitter('en');
    splitter.push('the price of it is 4 dollars and');
    expect(splitter.hurry()).toEqual(['the price of it ']);
    expect(splitter.end()).toEqual(['is 4 dollars and']);
  });

  it('waits for a word', () => {
    const splitter = new SentenceSplitter('en');
    splitter.push('**');
    expect(splitter.isAwaited).toBe(false);
  });
});

it('keeps the head of a table with the line below it', () => {
  const table = '| Size | Price |\n|------|-------|\n| Small and round | 4 |\n';
  const expected = ['| Size | Price |\n|------|-------|\n', '| Small and round | 4 |\n'];
  expect(split('en', [table])).toEqual(expected);
  expect(split('en', Array.from(table))).toEqual(expected);
  expect(split('en', ['| This is not the head of a table |\n', 'but a line'])).toHaveLength(2);
});

it.each(['_', '*', '[', '`', '~~', '<', '(', '"', '|'])('holds nothing back for a stray %s', (sign) => {
  const splitter = new SentenceSplitter('en');
  expect(splitter.push(`This is the ${sign}first sentence of it. And`)).toEqual([`This is the ${sign}first sentence of it. `]);
});

it.each(['a long list of things, ', 'a long list of things ', 'x', '。', '...', '1.2', '😀', '| '])('cuts what never ends: %s', (text) => {
  const all = text.repeat(400);
  const pieces = split('en', [all]);
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(400);
  expect(pieces.join('')).toBe(all);
  // No character is cut in two.
  for (const piece of pieces) expect(piece.isWellFormed()).toBe(true);
});

it('accepts a language that nobody knows', () => {
  expect(trimmed(split('x-nobody', ['That is how it is here. And so on.']))).toEqual(['That is how it is here.', 'And so on.']);
});

const text = fc.string({ unit: fc.constantFrom(...'ab1 .,!?:;\n|-*_[]()`~。，ก"'.split('')), maxLength: 300 });

it('loses nothing, however the text comes', () => {
  fc.assert(
    fc.property(fc.array(text, { maxLength: 8 }), fc.nat(8), (pieces, hurryAt) => {
      const splitter = new SentenceSplitter('en');
      const taken = pieces.flatMap((piece, index) => [...(index === hurryAt ? splitter.hurry() : []), ...splitter.push(piece)]);
      expect([...taken, ...splitter.end()].join('')).toBe(pieces.join(''));
    }),
  );
});

it('gives the same pieces character by character', () => {
  // The end of the first piece depends on the text that has come.
  const rest = (pieces: readonly string[]): readonly string[] => split('en', ['Go. ', ...pieces]);
  fc.assert(
    fc.property(text, (all) => {
      expect(rest(Array.from(all))).toEqual(rest([all]));
    }),
  );
});

it('looks at no more than 400 characters at a time, whatever comes', () => {
  const longest = ['.', '. ', '1. ', 'e.g. ', '|\n', '|-\n', '[', ', ', 'a', '!', '..a', '👍'].map((unit) => {
    const splitter = new SentenceSplitter('en');
    let [held, most] = [0, 0];
    for (const sign of unit.repeat(2_000)) {
      const pieces = splitter.push(sign);
      held += sign.length - pieces.join('').length;
      most = Math.max(most, held, ...pieces.map(({ length }) => length));
    }
    return most;
  });
  expect(Math.max(...longest)).toBeLessThanOrEqual(400);
});
