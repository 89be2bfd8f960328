import { describe, expect, it } from 'vitest';

import { estimate } from './token-usage.ts';

const words = async (texts: readonly string[]) => texts.map((text) => text.split(' ').filter(Boolean).length);
const body = (...contents: readonly string[]) =>
  JSON.stringify({ model: 'm', messages: contents.map((content) => ({ role: 'user', content })) });

describe('an estimate', () => {
  const answer = 'one two three';

  it('counts the request, and what came of the answer', async () => {
    expect(await estimate({ body: body('a b c', 'd'), answer, known: undefined, countTokens: words })).toMatchObject({
      inputTokens: 3 + 4 + 1 + 4,
      outputTokens: 3,
    });
  });

  it('goes on from what the provider has counted of a request before, also where words come again', async () => {
    const known = { body: body('a b c', 'yes'), inputTokens: 50 };
    const inputOf = async (...contents: readonly string[]) =>
      (await estimate({ body: body(...contents), answer, known, countTokens: words })).inputTokens;
    expect(await inputOf('a b c', 'yes')).toBe(50);
    expect(await inputOf('a b c', 'yes', 'x y', 'yes')).toBe(50 + 6 + 5);
    expect(await inputOf('yes')).toBe(50 - 7);
  });

  it('goes by the length without a tokenizer', async () => {
    const countTokens = () => Promise.reject(new Error('the role is gone'));
    expect(await estimate({ body: body('a'.repeat(40)), answer, known: undefined, countTokens })).toMatchObject({
      inputTokens: 10 + 4,
      outputTokens: 4,
    });
  });
});
