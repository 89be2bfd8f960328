import { expect, it } from 'vitest';

import { apologyIn, silenceReminderIn } from './fixed-phrases.ts';

it.each([
  ['bn-BD', /^[\p{Script=Bengali}\s\p{P}]+$/u],
  ['de', /Wiederhören|noch da/],
  ['xx-YY', /sorry|still there/],
])('speaks the language of the agent: %s', (language, words) => {
  expect(apologyIn(language)).toMatch(words);
  expect(silenceReminderIn(language)).toMatch(words);
});
