import { expect, it } from 'vitest';

import { wholeWords } from './whole-words.ts';

it('holds a word back that may go on', () => {
  expect(wholeWords('an appoint')).toEqual(['an ', 'appoint']);
  expect(wholeWords('an appointment.')).toEqual(['an appointment.', '']);
  expect(wholeWords('私たちは')).toEqual(['私たちは', '']);
});
