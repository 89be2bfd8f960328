import { expect, it } from 'vitest';

import { SECRET_KEYS, SECRET_WORDS } from './secret-keys.ts';

it.each([...SECRET_KEYS])('finds a secret word in %s, so that what hides no log line hides in no report either', (key) => {
  expect(key).toMatch(new RegExp(SECRET_WORDS, 'i'));
});
