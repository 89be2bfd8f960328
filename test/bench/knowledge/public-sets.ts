/** Reads public sets as they are handed on: BEIR's three files in a folder, and SQuAD's one file, which XQuAD has in twelve languages. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { z } from 'zod';

import type { TestCollection } from './collections.ts';

/** Figures that others have published for BM25, as nDCG@10 and recall@100. */
export interface Published {
  readonly ndcg: number;
  readonly recall: number;
}

/**
 * Anserini's BM25 over title and text, which are the figures of BM25 in BEIR (Thakur et al., 2021, table 2).
 * Source: castorini/anserini, docs/regressions/regressions-beir-v1.0.0-{scifact,nfcorpus,fiqa}.multifield.md and regressions-miracl-v1.0-bn.md.
 */
export const PUBLISHED: Readonly<Record<string, Published>> = {
  scifact: { ndcg: 0.6647, recall: 0.9076 },
  nfcorpus: { ndcg: 0.3254, recall: 0.25 },
  fiqa: { ndcg: 0.2361, recall: 0.5395 },
  'miracl.bn': { ndcg: 0.5079, recall: 0.9088 },
};

/** Reads all sets in the folder: sub-folders with `corpus.jsonl`, and files `xquad.<language>.json` and `spoken_test-v1.1.json`. */
export async function readPublicSets(folder: string): Promise<readonly TestCollection[]> {
  const entries = (await readdir(folder, { withFileTypes: true })).toSorted((left, right) => (left.name < right.name ? -1 : 1));
  const found: TestCollection[] = [];
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      const collection = await readBeir(path, entry.name);
      if (collection !== undefined) found.push(collection);
    } else if (/^xquad\.[a-z]+\.json$/.test(entry.name))
      found.push(await readXquad(path, entry.name.slice(0, -'.json'.length), entry.name.slice('xquad.'.length, -'.json'.length)));
    else if (entry.name === SPOKEN_SQUAD) found.push(await readXquad(path, 'Spoken-SQuAD', 'en'));
  }
  return found;
}

/** Passages as a recogniser heard them, of Chia-Hsuan-Lee/Spoken-SQuAD. */
const SPOKEN_SQUAD = 'spoken_test-v1.1.json';

const id = z.union([z.string(), z.int()]).transform(String);
const corpusLine = z.object({ _id: id, title: z.string().nullish(), text: z.string() });
const queryLine = z.object({ _id: id, text: z.string() });

/** @param name name with the language behind a dot, as in `miracl.bn`; English without */
async function readBeir(folder: string, name: string): Promise<TestCollection | undefined> {
  const [corpus, queries, judgements] = await Promise.all(
    ['corpus.jsonl', 'queries.jsonl', 'qrels/test.tsv'].map((file) => textOf(folder, file)),
  );
  if (corpus === undefined || queries === undefined || judgements === undefined) return undefined;
  const relevant = readQrels(judgements);
  return {
    name,
    language: /\.([a-z]{2,3})$/.exec(name)?.[1] ?? 'en',
    passages: linesOf(corpus, corpusLine).map(({ _id, title, text }) => ({ id: _id, text: title ? `${title}\n${text}` : text })),
    queries: linesOf(queries, queryLine).flatMap(({ _id, text }) => {
      const judged = relevant.get(_id);
      return judged === undefined ? [] : [{ id: _id, text, relevant: judged }];
    }),
  };
}

/** Reads lines of query, document and grade, with or without a head line; grades of 0 say that it is not relevant. */
export function readQrels(text: string): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const relevant = new Map<string, Map<string, number>>();
  for (const line of text.split('\n')) {
    const [query, document, grade] = line.trim().split('\t');
    if (query === undefined || document === undefined || !(Number(grade) > 0)) continue;
    const grades = relevant.get(query) ?? new Map<string, number>();
    grades.set(document, Number(grade));
    relevant.set(query, grades);
  }
  return relevant;
}

const squad = z.object({
  data: z.array(
    z.object({
      paragraphs: z.array(
        z.object({
          context: z.string(),
          qas: z.array(z.object({ id, question: z.string(), answers: z.array(z.object({ text: z.string() })) })),
        }),
      ),
    }),
  ),
});

async function readXquad(path: string, name: string, language: string): Promise<TestCollection> {
  const paragraphs = squad.parse(JSON.parse(await readFile(path, 'utf8'))).data.flatMap((article) => article.paragraphs);
  return {
    name,
    language,
    passages: paragraphs.map(({ context }, position) => ({ id: String(position), text: context })),
    queries: paragraphs.flatMap(({ qas }, position) =>
      qas.map(({ id: query, question, answers }) => ({
        id: query,
        text: question,
        relevant: new Map([[String(position), 1]]),
        answers: answers.map(({ text }) => text),
      })),
    ),
  };
}

function linesOf<T>(text: string, line: z.ZodType<T>): readonly T[] {
  return text
    .split('\n')
    .filter((each) => each.trim() !== '')
    .map((each) => line.parse(JSON.parse(each)));
}

async function textOf(folder: string, file: string): Promise<string | undefined> {
  return readFile(join(folder, file), 'utf8').catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  });
}
