import { expect, it } from 'vitest';

import { answerFrom } from './passages.ts';

const handbook = `# Harbour Bikes

## Opening hours
Monday to Friday from 9 to 18, Saturday from 10 to 14. Closed on public holidays.

## Prices
A basic service is 45 dollars and takes one day. A full service is 120 dollars and takes three days.
A puncture is mended while you wait, for 12 dollars.`;

it.each([
  ['what are your opening hours', 'Monday to Friday from 9 to 18, Saturday from 10 to 14. Closed on public holidays.'],
  ['When are you open?', 'Monday to Friday from 9 to 18, Saturday from 10 to 14. Closed on public holidays.'],
  ['how much is a puncture', 'A puncture is mended while you wait, for 12 dollars.'],
  ['What does a full service cost?', 'A full service is 120 dollars and takes three days.'],
  ['do you have a warranty', undefined],
])('%s', (question, answer) => {
  expect(answerFrom(['The weather is fine.', handbook], question)).toBe(answer);
});
