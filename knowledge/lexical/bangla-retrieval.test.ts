/** Tests questions of our own on passages of our own: help desk, products, policies, health and farming, as people ask. */
import { readFile } from 'node:fs/promises';

import { expect, it } from 'vitest';

import { exactIndex } from '../../test/support/exact-index.ts';

interface Collection {
  readonly passages: readonly { readonly id: string; readonly text: string }[];
  readonly questions: readonly { readonly question: string; readonly passage: string }[];
}

it.each(['bn', 'en'])(
  'answers Bangla questions from the right passage (in a base in %s): mean reciprocal rank of at least 0.8',
  async (language) => {
    const { passages, questions } = JSON.parse(await readFile(new URL('testdata/bangla.json', import.meta.url), 'utf8')) as Collection;
    expect([passages.length, questions.length]).toEqual([40, 60]);
    const index = exactIndex(passages, language);
    const ranks = questions.map(
      ({ question, passage }) => index.search(question, passages.length).findIndex(({ id }) => id === passage) + 1,
    );
    const mean = ranks.reduce((sum, rank) => sum + (rank === 0 ? 0 : 1 / rank), 0) / ranks.length;
    expect(mean).toBeGreaterThanOrEqual(0.8);
  },
);

it('finds an exact Bangla phrase first', async () => {
  const { passages } = JSON.parse(await readFile(new URL('testdata/bangla.json', import.meta.url), 'utf8')) as Collection;
  const index = exactIndex(passages, 'bn');
  for (const { id, text } of passages) {
    const words = text.split(' ');
    for (let start = 0; start + 6 <= words.length; start += 6) {
      const phrase = words.slice(start, start + 6).join(' ');
      expect(index.search(phrase, 1)[0]?.id, phrase).toBe(id);
    }
  }
});
