import { expect, it } from 'vitest';

import { firstWords, type Message } from './record.ts';

const message = (role: Message['role'], content: string): Message => ({ role, content, timestamp: '', interrupted: false });

it('takes the first words of the user, for agents begin with the same ones each time', () => {
  expect(firstWords({ messages: [message('agent', 'Hello.'), message('user', 'A table, please.'), message('user', 'For two.')] })).toBe(
    'A table, please.',
  );
  expect(firstWords({ messages: [message('agent', 'Hello.')] })).toBeUndefined();
});
