/** Counts the questions whose answer stands in what a search finds: files are read, cut, indexed and searched as in an installation. */
import { Readable } from 'node:stream';

import { chunkBlocks } from '../../../knowledge/chunking/chunk-blocks.ts';
import type { Chunk } from '../../../knowledge/chunking/chunk.ts';
import { type Block, ParserPool } from '../../../knowledge/parsing/index.ts';
import { exactIndex } from '../../support/exact-index.ts';
import { fileOf, type OfficeDocument, type OfficeDocuments, readOfficeDocuments } from './office-documents.ts';
import type { KnowledgePart } from './part.ts';

const depths = [1, 3, 5] as const;

interface Found {
  readonly language: string;
  readonly documents: number;
  readonly chunks: number;
  readonly questions: number;
  /** Questions whose answer stands in one of so many hits, by depth. */
  readonly answered: readonly number[];
}

export const answers: KnowledgePart = async ({ progress }) => {
  const pool = new ParserPool({ size: 1 });
  try {
    const figures: Found[] = [];
    for (const set of await readOfficeDocuments()) figures.push(await measure(set, pool, progress));
    const row = ({ language, documents, chunks, questions, answered }: Found): readonly string[] =>
      [language, documents, chunks, questions, ...answered].map(String);
    const sum = (of: (found: Found) => number): number => figures.reduce((total, found) => total + of(found), 0);
    const all: Found = {
      language: 'all',
      documents: sum(({ documents }) => documents),
      chunks: sum(({ chunks }) => chunks),
      questions: sum(({ questions }) => questions),
      answered: depths.map((_, at) => sum(({ answered }) => answered[at] ?? 0)),
    };
    return {
      figures: { answers: figures },
      tables: [
        {
          title: 'Questions whose answer stands in the hits',
          columns: ['language', 'documents', 'chunks', 'questions', ...depths.map((depth) => `in ${depth}`)],
          rows: [...figures, all].map(row),
        },
      ],
    };
  } finally {
    await pool.close();
  }
};

async function measure(
  { language, documents, questions }: OfficeDocuments,
  pool: ParserPool,
  progress: (line: string) => void,
): Promise<Found> {
  const chunks: (Chunk & { readonly id: string })[] = [];
  for (const document of documents)
    for (const chunk of await chunksOf(document, language, pool)) chunks.push({ ...chunk, id: `${document.name}:${chunk.ordinal}` });
  const byId = new Map(chunks.map((chunk) => [chunk.id, chunk]));
  const index = exactIndex(
    chunks.map(({ id, indexedText }) => ({ id, text: indexedText })),
    language,
  );
  const ranks = questions.map(({ question, answer }) => {
    const hits = index.search(question, 5).map(({ id }) => byId.get(id)?.text ?? '');
    const rank = hits.findIndex((text) => plain(text).includes(plain(answer)));
    if (rank < 0 || rank >= 3) progress(`${language}: "${question}" finds "${answer}" ${rank < 0 ? 'in none' : `as number ${rank + 1}`}`);
    return rank < 0 ? Number.POSITIVE_INFINITY : rank;
  });
  return {
    language,
    documents: documents.length,
    chunks: chunks.length,
    questions: questions.length,
    answered: depths.map((depth) => ranks.filter((rank) => rank < depth).length),
  };
}

async function chunksOf(document: OfficeDocument, language: string, pool: ParserPool): Promise<readonly Chunk[]> {
  const parsing = pool.parse({ content: Readable.from([fileOf(document)]), extension: document.format });
  const blocks: Block[] = [];
  for await (const batch of parsing.blocks()) blocks.push(...batch.filter((block) => block.kind !== 'picture'));
  const chunks: Chunk[] = [];
  for await (const chunk of chunkBlocks(blocks, { title: document.name, language })) chunks.push(chunk);
  return chunks;
}

/** Reduces a text to what a reader takes in: without what stands between words and cells. */
function plain(text: string): string {
  return text
    .normalize('NFKC')
    .replaceAll(/[\s|;:]+/gu, ' ')
    .toLowerCase();
}
