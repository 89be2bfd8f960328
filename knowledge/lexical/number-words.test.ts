import { describe, expect, it } from 'vitest';

import { numbersIn } from './number-words.ts';
import { allTerms, passageTerms } from './passage.ts';
import { readQuestion, termsInQuestion } from './question.ts';

describe('numbers in words', () => {
  it.each([
    ['en', 'twenty four hours', '24'],
    ['en', 'twenty-four hours', '24'],
    ['en', 'one hundred twenty-one', '121'],
    ['de', 'Zimmer siebzehn', '17'],
    ['de', 'vierundzwanzig Stunden', '24'],
    ['fr', 'vingt-quatre heures', '24'],
    ['nl', 'vierentwintig uur', '24'],
    ['sv', 'tjugofyra timmar', '24'],
    ['da', 'fireogtyve timer', '24'],
    ['fi', 'kaksikymmentäneljä tuntia', '24'],
    ['ru', 'двадцать четыре часа', '24'],
    ['bn', 'চব্বিশ ঘণ্টা', '24'],
    ['nn', 'sytten', '17'],
  ])('%s: %s is found as %s', (language, text, digits) => {
    expect(termsInQuestion(readQuestion(text, language))).toContain(digits);
    expect(passageTerms(text, language).more).toContain(digits);
  });

  it('takes no article and no single digit for a number, and knows none in a language that it has no words of', () => {
    expect(numbersIn(['one', 'room', 'for', 'two'], 'en')).toEqual([]);
    expect(numbersIn(['siebzehn'], 'en')).toEqual([]);
    expect(numbersIn(['seventeen'], 'xx')).toEqual([]);
  });
});

describe('codes', () => {
  it.each([
    ['de', 'Fehler E siebzehn', 'Meldung E17'],
    ['de', 'Fehler E 17', 'Meldung E17'],
    ['en', 'code four zero seven', 'Enter 407.'],
    ['en', 'error e seventeen', 'Error E-17'],
  ])('%s: %s has a term of %s', (language, question, passage) => {
    const asked = new Set(termsInQuestion(readQuestion(question, language)));
    expect(allTerms(passageTerms(passage, language)).some((term) => /\d/.test(term) && asked.has(term))).toBe(true);
  });

  it('joins a letter with the number behind it, and single digits with each other', () => {
    expect(numbersIn(['e', '17'], 'en')).toEqual(['e17']);
    expect(numbersIn(['one', 'two', 'three'], 'en')).toEqual(['12', '123']);
    expect(numbersIn(['24', '17'], 'en')).toEqual([]);
    expect(numbersIn(['a', 'two', 'bed', 'room'], 'en')).toEqual([]);
  });

  it('gives up on a column of digits: the terms grow with the words', () => {
    const terms = numbersIn(
      Array.from({ length: 1_000 }, () => '7'),
      'en',
    );
    expect(Math.max(...terms.map(({ length }) => length))).toBeLessThanOrEqual(12);
    expect(terms.length).toBeLessThanOrEqual(1_000);
  });
});
