/**
 * Reads COVID-QA's pages of questions and answers, with paraphrases of their questions: files of the folder `data` of deepset-ai/COVID-QA
 * (Apache-2.0). Its questions are short, and asked in other words than those of the page.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { read, utils } from '@e965/xlsx';

import type { TestCollection } from './collections.ts';

interface FaqFiles {
  readonly language: string;
  /** File with columns `question`, `answer` and `lang`. */
  readonly pages: string;
  /** File with columns `question_1`, which is a page's question, `question_2` and `similar`. */
  readonly paraphrases: string;
}

const FILES: readonly FaqFiles[] = [
  { language: 'de', pages: 'faq_200327.tsv', paraphrases: 'eval_question_similarity_de.csv' },
  { language: 'en', pages: 'faq_covidbert.csv', paraphrases: 'eval_question_similarity_en.csv' },
];

/** Reads the sets whose files are in the folder. */
export async function readFaqSets(folder: string): Promise<readonly TestCollection[]> {
  const sets: TestCollection[] = [];
  for (const { language, pages, paraphrases } of FILES) {
    const [documents, questions] = await Promise.all([rowsOf(join(folder, pages)), rowsOf(join(folder, paraphrases))]);
    if (documents !== undefined && questions !== undefined) sets.push(faqSet(language, documents, questions));
  }
  return sets;
}

type Row = Readonly<Record<string, string>>;

/** Takes each answer once, under its question, and each paraphrase once, answered by all answers to its question. */
export function faqSet(language: string, pages: readonly Row[], paraphrases: readonly Row[]): TestCollection {
  const answersTo = new Map<string, string[]>();
  const passages = new Map<string, string>();
  for (const page of pages) {
    if (page['lang'] !== language) continue;
    const question = tidy(page['question']);
    const text = `${question}\n${tidy(page['answer'])}`;
    if (passages.has(text)) continue;
    const id = String(passages.size);
    passages.set(text, id);
    answersTo.set(question.toLowerCase(), [...(answersTo.get(question.toLowerCase()) ?? []), id]);
  }
  const asked = new Map<string, readonly string[]>();
  for (const { question_1: question, question_2: paraphrase, similar } of paraphrases) {
    const answers = answersTo.get(tidy(question).toLowerCase());
    const text = tidy(paraphrase);
    if (similar === '1' && answers !== undefined && text !== '' && !asked.has(text)) asked.set(text, answers);
  }
  return {
    name: `COVID-QA ${language}`,
    language,
    passages: [...passages].map(([text, id]) => ({ id, text })),
    queries: [...asked].map(([text, answers], position) => ({
      id: String(position),
      text,
      relevant: new Map(answers.map((id) => [id, 1])),
    })),
  };
}

const tidy = (text = ''): string => text.replaceAll(/\s+/g, ' ').trim();

async function rowsOf(path: string): Promise<readonly Row[] | undefined> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const { Sheets, SheetNames } = read(text, { type: 'string', raw: true, ...(path.endsWith('.tsv') && { FS: '\t' }) });
  return utils.sheet_to_json<Row>(Sheets[SheetNames[0] ?? ''] ?? {}, { raw: true, defval: '' });
}
