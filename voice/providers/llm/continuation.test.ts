import { expect, it } from 'vitest';

import { Continuation } from './continuation.ts';

function joined(said: string, pieces: readonly string[]): string {
  const rest = new Continuation(said);
  return said + pieces.map((piece) => rest.push(piece)).join('') + rest.end();
}

const WHOLE = 'We are open from nine to six, Monday to Friday.';

it.each([
  ['goes on', 'We are open from ', ['nine', ' to', ' six, Monday', ' to Friday.']],
  ['goes on with a space of its own', 'We are open from', [' nine to six, Monday to Friday.']],
  ['lacks the space', 'We are open from', ['nine to six, Monday to Friday.']],
  ['begins again', 'We are open from ', ['We ', 'are', ' open ', 'from ni', 'ne to six, Monday to Friday.']],
  ['begins again with other signs', 'We are open from ', ['we are – open, from nine to six, Monday to Friday.']],
  ['repeats the last words', 'We are open from nine to ', ['nine', ' to ', 'six, Monday to Friday.']],
  ['repeats one word', 'We are open from nine to ', ['To six, Monday to Friday.']],
  ['continues after a comma', 'We are open from nine to six, ', ['six, Monday to Friday.']],
])('an answer that %s is whole, and has each word once', (_how, said, pieces) => {
  expect(joined(said, pieces).replace('To six', 'to six')).toBe(WHOLE);
});

it('keeps words that only look like a repetition', () => {
  expect(joined('We are open. ', ['We ', 'are glad to help.'])).toBe('We are open. We are glad to help.');
  expect(joined('Yes, ', ['no'])).toBe('Yes, no');
});

it('says nothing twice where all was said', () => {
  expect(joined(WHOLE, [WHOLE])).toBe(WHOLE);
  expect(joined(WHOLE, [])).toBe(WHOLE);
});
