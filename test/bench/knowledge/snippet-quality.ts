/** Measures what an agent's model reads of the hits, whole chunks or snippets: whether the answer is in it, and what it costs. */
import { chunkBlocks } from '../../../knowledge/chunking/chunk-blocks.ts';
import { countTokens } from '../../../knowledge/chunking/tokens.ts';
import { snippetOf } from '../../../knowledge/search/snippet.ts';
import { SNIPPET_LENGTHS } from '../../../voice/tools/builtin/search-knowledge-base.ts';
import { exactIndex } from '../../support/exact-index.ts';
import type { Table } from '../harness/table.ts';
import type { TestCollection } from './collections.ts';

export interface SnippetQuality {
  readonly collection: string;
  readonly questions: number;
  readonly chunksWithAnswer: number;
  readonly chunkTokens: number;
  readonly snippetsWithAnswer: number;
  readonly snippetTokens: number;
}

/** Takes all passages for one document, so that chunks are as long as those of files. Undefined where the set has no answers. */
export async function measureSnippets({ name, language, passages, queries }: TestCollection): Promise<SnippetQuality | undefined> {
  const asked = queries.filter(({ answers = [] }) => answers.length > 0);
  if (asked.length === 0) return undefined;
  const blocks = passages.map(({ text }) => ({ kind: 'paragraph' as const, text, headingPath: [] }));
  const texts = new Map<string, string>();
  const chunks: { readonly id: string; readonly text: string }[] = [];
  for await (const { ordinal, text, indexedText } of chunkBlocks(blocks, { language })) {
    texts.set(String(ordinal), text);
    chunks.push({ id: String(ordinal), text: indexedText });
  }
  const index = exactIndex(chunks, language);
  const totals = { chunksWithAnswer: 0, chunkTokens: 0, snippetsWithAnswer: 0, snippetTokens: 0 };
  for (const { text: question, answers = [] } of asked) {
    const hits = index.search(question, SNIPPET_LENGTHS.length).map(({ id }) => texts.get(id) ?? '');
    const query = index.queryVector(question);
    const snippets = hits.map((text, rank) => snippetOf({ text, query, language, isSheet: false, maxLength: SNIPPET_LENGTHS[rank] ?? 0 }));
    const isIn = (shown: readonly string[]): number => Number(answers.some((answer) => shown.some((text) => text.includes(answer))));
    const tokensOf = (shown: readonly string[]): number => shown.reduce((sum, text) => sum + countTokens(text), 0);
    totals.chunksWithAnswer += isIn(hits);
    totals.snippetsWithAnswer += isIn(snippets);
    totals.chunkTokens += tokensOf(hits);
    totals.snippetTokens += tokensOf(snippets);
  }
  const shares = Object.fromEntries(Object.entries(totals).map(([key, total]) => [key, total / asked.length])) as typeof totals;
  return { collection: name, questions: asked.length, ...shares };
}

export function snippetTable(figures: readonly SnippetQuality[]): Table {
  return {
    title: 'What the model of an agent reads of a search',
    columns: ['collection', 'questions', 'chunks: with the answer', 'tokens', 'snippets: with the answer', 'tokens'],
    rows: figures.map((row) => [
      row.collection,
      String(row.questions),
      row.chunksWithAnswer.toFixed(3),
      row.chunkTokens.toFixed(0),
      row.snippetsWithAnswer.toFixed(3),
      row.snippetTokens.toFixed(0),
    ]),
    notes: [
      `The ${SNIPPET_LENGTHS.length} best hits, as whole chunks and as snippets of at most ${SNIPPET_LENGTHS.join(', ')} characters; tokens of o200k_base.`,
      'All passages of a set are one document. The answer counts where its text is in what is read, letter by letter.',
    ],
  };
}
