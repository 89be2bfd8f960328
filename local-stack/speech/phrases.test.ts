import { expect, it } from 'vitest';

import { numberWords, Phrases, spokenForm } from './phrases.ts';

it.each([
  ['7', 'seven'],
  ['40', 'forty'],
  ['99', 'ninety nine'],
  ['105', 'one hundred five'],
  ['4711', 'four thousand seven hundred eleven'],
  ['007', 'zero zero seven'],
  ['47110', 'four seven one one zero'],
])('reads %s as it is read aloud', (digits, words) => {
  expect(numberWords(digits)).toBe(words);
});

it('listens for what was spoken lately, and gives it back as it was written', () => {
  const phrases = new Phrases();
  phrases.remember({ text: "My order's number is 12. Is it ready?", language: 'en-GB', seconds: 3 });
  const forms = phrases.forms();
  expect(forms.get("my order's number is twelve is it ready")).toBe("My order's number is 12. Is it ready?");
  expect(forms.get('is it ready')).toBe('Is it ready?');
  expect(forms.get('good bye')).toBe('good bye');
});

it('guesses by the length where it has no ear', () => {
  const phrases = new Phrases();
  phrases.remember({ text: 'Guten Tag', language: 'de-DE', seconds: 1 });
  phrases.remember({ text: 'Wo ist mein Fahrrad?', language: 'de-DE', seconds: 2 });
  expect(phrases.byLength(1.97, 'de')).toBe('Wo ist mein Fahrrad?');
  expect(phrases.byLength(1.5, 'de')).toBeUndefined();
  expect(phrases.byLength(1, 'fr')).toBeUndefined();
  expect(phrases.forms().has('guten tag')).toBe(false);
});

it('knows no marks in what is said', () => {
  expect(spokenForm('  Hello – is “that” all?! ')).toBe('hello is that all');
});
