import { describe, expect, it } from 'vitest';

import { exactIndex } from '../../test/support/exact-index.ts';
import { splitFrame } from './frames.ts';
import { passageTerms } from './passage.ts';
import { readQuestion } from './question.ts';

const words = (text: string): string => text.replaceAll('…', ' ').replaceAll(/\s+/g, ' ').trim();

describe('what is said around a question', () => {
  it.each([
    ['en', 'good morning i was wondering do you rent bikes thanks a lot', 'do you rent bikes'],
    ['en', 'my friend told me that you rent bikes does that make sense', 'you rent bikes'],
    ['en', 'Could you please tell me when you open?', 'when you open?'],
    ['de', 'guten tag ich wollte mal fragen wann macht der laden auf vielen dank', 'wann macht der laden auf'],
    ['de', 'ich weiß nicht ob sie mir helfen können aber ist corona gefährlich', 'aber ist corona gefährlich'],
    ['de', 'mich würde interessieren wie lange das dauert', 'wie lange das dauert'],
    ['nl', 'goedemorgen ik wilde even vragen hoe laat u opent', 'hoe laat u opent'],
    ['sv', 'god morgon jag undrar när ni öppnar', 'när ni öppnar'],
    ['fr', 'je voudrais savoir où est la gare', 'où est la gare'],
    ['es', 'buenos días quería preguntar dónde está la estación', 'dónde está la estación'],
  ])('%s: is parted from it: %s', (language, text, asked) => {
    expect(words(splitFrame(text, language).asked)).toBe(asked);
  });

  it.each([
    ['en', 'Can a mask help?'],
    ['en', 'What is a frequently asked question?'],
    ['de', 'Kann ein Mundschutz helfen?'],
    ['de', 'Wie viele Stunden am Tag ist offen?'],
    ['xx', 'good morning'],
  ])('%s: is nothing of: %s', (language, text) => {
    expect(splitFrame(text, language)).toEqual({ asked: text, frame: '' });
  });

  it('is the question where nothing else is asked', () => {
    expect(readQuestion('guten tag', 'de')).toMatchObject({ asked: ['gut', 'tag'], frame: [] });
  });
});

it('still finds greetings in a base about greetings', () => {
  const passages = ['Guten Tag sagt man bis zum Abend.', 'Guten Morgen sagt man bis zehn Uhr.', 'Vielen Dank sagt, wer etwas bekommt.'];
  const index = exactIndex(
    passages.map((text, at) => ({ id: String(at), text })),
    'de',
  );
  for (const [question, passage] of [
    ['guten tag', '0'],
    ['guten morgen', '1'],
    ['wann sagt man guten morgen', '1'],
    ['vielen dank', '2'],
  ] as const)
    expect(index.search(question, 1)[0]?.id, question).toBe(passage);
});

it('ranks by what is asked, whatever is said around it', () => {
  const index = exactIndex(
    [
      { id: 'masks', text: 'Masks help when my friend coughs. Good questions are wanted: we wonder and tell.' },
      { id: 'bikes', text: 'Bikes are rented by the hour.' },
    ],
    'en',
  );
  for (const question of ['rent a bike', 'hello um good morning my friend told me you rent bikes can you help me i have a question'])
    expect(index.search(question, 2)[0]?.id, question).toBe('bikes');
});

describe('questions in passages', () => {
  it('are told apart from their answers, with parts and numbers', () => {
    const { inQuestions } = passageTerms('Gibt es vierzig Parkplätze?\nJa, hinter dem Haus.', 'de');
    expect([...inQuestions]).toEqual(expect.arrayContaining(['parkplatz', '~park', '40']));
    expect(inQuestions).not.toContain('haus');
  });

  it.each([
    ['What about version 2.0?', true],
    ['Gibt es Parkplätze? Ja.', true],
    ['هل يوجد موقف؟', true],
    ['faq > Is there parking?\nYes.', true],
    ['Yes, there is. Or is there?', false],
    ['They ask, "Is there parking?" and we say yes.', false],
    ['Gäste fragen: „Gibt es Parkplätze?“ Es gibt sie.', false],
    ['and is there parking?', false],
    ['There is parking.', false],
  ])('are known by their sign, at the beginning of a line: %s', (text, isQuestion) => {
    expect(passageTerms(text, 'en').inQuestions.size > 0).toBe(isQuestion);
  });
});
