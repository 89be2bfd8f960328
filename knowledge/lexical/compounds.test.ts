/** Tests sentences of our own: words of everyday questions against the compounds of terms and notices. */
import { readFile } from 'node:fs/promises';

import { describe, expect, it } from 'vitest';

import { exactIndex } from '../../test/support/exact-index.ts';
import { halvesOf, longWordsOf, otherForms } from './compounds.ts';

interface Sentences {
  readonly passages: readonly string[];
  /** Each question has the number of the passage that answers it. */
  readonly questions: readonly (readonly [question: string, passage: number])[];
}

const indexOf = (passages: readonly string[], language: string) =>
  exactIndex(
    passages.map((text, at) => ({ id: String(at), text })),
    language,
  );

describe('questions for compounds', () => {
  it.each(['de', 'nl', 'sv'])('finds nearly all of them, and mostly first (%s)', async (language) => {
    const all = JSON.parse(await readFile(new URL('testdata/compounds.json', import.meta.url), 'utf8')) as Record<string, Sentences>;
    const { passages, questions } = all[language]!;
    const index = indexOf(passages, language);
    const ranks = questions.map(([question, passage]) => index.search(question, 10).findIndex(({ id }) => id === String(passage)) + 1);
    const mean = ranks.reduce((sum, rank) => sum + (rank === 0 ? 0 : 1 / rank), 0) / ranks.length;
    expect(mean).toBeGreaterThanOrEqual(0.8);
  });

  it.each([
    ['de', 'Kann ich bei Ihnen parken?', 'Die Parkgebühr beträgt 12 Euro.'],
    ['de', 'Wie ist Ihre Telefonnummer?', 'Telefon 02643 8407'],
    ['de', 'Wie sind die Oeffnungszeiten?', 'Öffnungszeiten: 9 bis 18 Uhr'],
    ['de', 'Wann haben Sie geöffnet?', 'Öffnungszeiten: 9 bis 18 Uhr'],
    ['de', 'Wann ist das Buffet?', 'Das Fruehstuecksbuffet beginnt um sieben.'],
    ['nl', 'Mag ik hier roken?', 'Er geldt een rookverbod.'],
    ['sv', 'Får man röka?', 'Rökförbud gäller.'],
    ['da', 'Hvor kan jeg parkere?', 'Parkeringsafgiften er 20 kroner.'],
    ['nb', 'Er dyr tillatt?', 'Husdyr er velkomne.'],
    ['fi', 'Missä on pysäköinti?', 'Pysäköintimaksu on viisi euroa.'],
  ])('%s: %s finds %s', (language, question, passage) => {
    const index = indexOf([passage, 'Lorem ipsum dolor sit amet.'], language);
    expect(index.search(question, 1)[0]?.id).toBe('0');
  });
});

describe('taking words apart', () => {
  it('parts a word at its hyphenation points, with halves as terms', () => {
    expect(halvesOf('kündigungsfrist', 'de')).toContainEqual(['kundig', 'frist']);
    expect(halvesOf('kuendigungsfrist', 'de')).toContainEqual(['kundig', 'frist']);
  });

  it('leaves short words, codes and other scripts whole, and every word of a language without compounds', () => {
    expect(longWordsOf(['haus', 'ab1234567', 'возвращение', 'haustiere'], 'de')).toEqual(['haustiere']);
    expect(longWordsOf(['extraordinary'], 'en')).toEqual([]);
    expect(longWordsOf(['a'.repeat(5_000), 'haustiere'], 'de')).toEqual(['haustiere']);
  });

  it('knows the noun of a verb', () => {
    expect(otherForms('geöffnet', 'de')).toContain('offnung');
    expect(otherForms('tisch', 'de')).toEqual([]);
    expect(otherForms('opened', 'en')).toEqual([]);
  });
});

it('asks for a part of a compound rather than for function words, where the knowledge base lacks the word itself', () => {
  const index = indexOf(
    ['Ersatzschlüssel gibt es beim Hausmeister.', 'Das Frühstücksbuffet beginnt um sieben.', 'Lorem ipsum dolor sit amet.'],
    'de',
  );
  expect(index.search('Gibt es ein Buffet?', 1)[0]?.id).toBe('1');
});

it('ranks the word itself above a compound of it, and a compound of both words above one of them', () => {
  const index = indexOf(['Das Parkett wird gepflegt.', 'Parkhaus', 'Haus', 'Hausordnung'], 'de');
  expect(index.search('Haus', 4)[0]?.id).toBe('2');
  expect(index.search('Parkhaus', 4)[0]?.id).toBe('1');
});
