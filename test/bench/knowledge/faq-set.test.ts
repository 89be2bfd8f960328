import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { testFolder } from '../../support/folders.ts';
import { readFaqSets } from './faq-set.ts';
import { spoken } from './spoken-frames.ts';

it('reads pages of questions and answers, and the paraphrases that people would ask', async () => {
  const folder = testFolder();
  const pages = [
    'question\tanswer\tlang',
    'Wann ist offen?\t"Ab ""neun"",\nbis zehn."\tde',
    'Wann ist  offen?\tNie.\tde',
    'Wann ist offen?\tNie.\tde',
    'When?\tNine.\ten',
  ];
  await writeFile(join(folder, 'faq_200327.tsv'), pages.join('\n'));
  expect(await readFaqSets(folder)).toEqual([]);
  const paraphrases = [
    'question_1,question_2,similar',
    'wann ist offen?,"Ab wann, bitte?",1',
    'Wann ist offen?,Wo?,0',
    'Wie teuer?,Was kostet es?,1',
  ];
  await writeFile(join(folder, 'eval_question_similarity_de.csv'), paraphrases.join('\n'));
  expect(await readFaqSets(folder)).toEqual([
    {
      name: 'COVID-QA de',
      language: 'de',
      passages: [
        { id: '0', text: 'Wann ist offen?\nAb "neun", bis zehn.' },
        { id: '1', text: 'Wann ist offen?\nNie.' },
      ],
      queries: [
        {
          id: '0',
          text: 'Ab wann, bitte?',
          relevant: new Map([
            ['0', 1],
            ['1', 1],
          ]),
        },
      ],
    },
  ]);
});

it('puts what callers say around a question', () => {
  expect(spoken('Where is "it"?', 1, 'en')).toBe('hello good morning i was wondering where is it thank you');
  expect(spoken('Where?', 9, 'en')).toBe(spoken('Where?', 1, 'en'));
  expect(spoken('Où ?', 0, 'fr')).toBeUndefined();
});
