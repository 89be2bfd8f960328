import { expect, it } from 'vitest';

import { isBackchannel, mayBecomeBackchannel } from './backchannels.ts';

it.each([
  ['Uh-huh.', 'en-US'],
  ['Mm-hmm, okay.', 'en-US'],
  ['okay okay', 'fi'],
  ['Yeah, right, I see.', 'en'],
  ['Hahaha', 'en'],
  ['Ha ha ha!', 'de'],
  ['(laughs)', 'en'],
  ['[laughter] oh', 'en'],
  ["D'accord…", 'fr-FR'],
  ['Ja, ja. Genau!', 'de-AT'],
  ['Sí, sí', 'es-MX'],
])('%s (%s) shows that someone listens', (text, language) => {
  expect(isBackchannel(text, language)).toBe(true);
});

it.each([
  ['', 'en'],
  ['No.', 'en'],
  ['Yes', 'en'],
  ['Okay, stop.', 'en'],
  ['Ha, that is wrong', 'en'],
  ['right now', 'en'],
  ['Genau', 'en'],
  ['Ja', 'de'],
  ['Halt', 'de'],
  ['他', 'zh'],
])('%s (%s) is said to the agent', (text, language) => {
  expect(isBackchannel(text, language)).toBe(false);
});

it.each([
  ['okay, passt', true],
  ['passt', true],
  ['I', true],
  ['Uh', true],
  ['passt schon', false],
  ['passt nicht', false],
  ['but passt', false],
  ['', false],
])('%s may become a sign that someone listens: %s', (text, expected) => {
  expect(mayBecomeBackchannel(text, 'en', ['Passt schon'])).toBe(expected);
});
