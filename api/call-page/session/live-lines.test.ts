import { expect, it } from 'vitest';

import type { SpokenLine } from '../../../calls/live-transcript.ts';
import { withLine } from './live-lines.ts';

const line = (id: string, role: SpokenLine['role'], text: string, final = false): SpokenLine => ({ id, role, text, final });
const shown = (...lines: readonly SpokenLine[]): readonly string[] =>
  lines.reduce(withLine, [] as readonly SpokenLine[]).map(({ role, text, final }) => `${role}: ${text}${final ? '' : ' …'}`);

it('a line stands where it was begun, whichever is completed first', () => {
  expect(
    shown(
      line('a1', 'agent', 'We are open'),
      line('u1', 'user', 'Thanks'),
      line('a1', 'agent', 'We are open Monday', true),
      line('u1', 'user', 'Thanks. Bye.', true),
    ),
  ).toEqual(['agent: We are open Monday', 'user: Thanks. Bye.']);
});

it('a final line stays as it is', () => {
  expect(shown(line('u1', 'user', 'Hello.', true), line('u1', 'user', 'Hell'))).toEqual(['user: Hello.']);
});

it('words that were no words go with the next ones of the user', () => {
  expect(shown(line('u1', 'user', 'Hm'), line('a1', 'agent', 'Yes?', true), line('u2', 'user', 'Hello'))).toEqual([
    'agent: Yes?',
    'user: Hello …',
  ]);
});
