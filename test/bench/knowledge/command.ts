import type { Command } from 'commander';

import { partsOf, wholeNumber } from '../harness/flags.ts';
import type { LargeOptions, KnowledgeScale } from './part.ts';

export const partNames = [
  'quality',
  'answers',
  'indexing',
  'search',
  'pdf',
  'queue',
  'throughput',
  'volume',
  'parsing',
  'upload',
  'large',
] as const;
export type KnowledgePartName = (typeof partNames)[number];

const full: KnowledgeScale = {
  rounds: 5,
  turnMs: 4_000,
  chunks: 10_000,
  indexedChunks: 1_000,
  concurrent: 20,
  pages: 350,
  bigFiles: 20,
  smallFiles: 100,
  manyFiles: 1_400,
};

/** Enough to see that everything works; too little for a figure. */
const quick: KnowledgeScale = {
  rounds: 1,
  turnMs: 500,
  chunks: 500,
  indexedChunks: 100,
  concurrent: 20,
  pages: 20,
  bigFiles: 4,
  smallFiles: 10,
  manyFiles: 40,
};

interface Flags {
  readonly quick?: true;
  readonly only: readonly KnowledgePartName[];
  readonly data?: string;
  readonly out?: string;
  readonly rounds?: number;
  readonly chunks?: number;
  readonly files?: number;
  readonly against?: string;
  readonly store: LargeOptions['stores'];
  readonly dimensions: number;
}

export function registerKnowledge(program: Command): void {
  program
    .command('knowledge')
    .description(
      'knowledge bases: how good the offline ranking is against plain BM25 (quality), answers in documents of twelve languages (answers), indexing of 1,000 chunks (indexing), search in both stores (search), a long PDF (pdf), a small file behind big ones (queue), many small files (throughput), the same over REST with all roles (volume), parser processes (parsing), ways to upload many files (upload), large knowledge bases (large)',
    )
    .option('--quick', 'a short run that shows that everything works; its figures mean little')
    .option('--only <parts>', `which parts to run: ${partNames.join(', ')}`, partsOf(partNames), partNames)
    .option('--rounds <n>', `turns of each contender (${full.rounds})`, wholeNumber)
    .option('--chunks <n>', `chunks that are searched, in tens (${full.chunks})`, wholeNumber)
    .option('--files <n>', `files of 1 KB that volume uploads (${full.manyFiles})`, wholeNumber)
    .option('--against <folder>', 'another checkout, built: volume measures its roles next to those of this one, parsing its parsers')
    .option('--store <names>', 'stores that large measures: pgvector, milvus', partsOf(['pgvector', 'milvus'] as const), ['pgvector'])
    .option('--dimensions <n>', 'of the vectors of large', wholeNumber, 384)
    .option('--data <folder>', 'where the test collections are; BENCH_DATA unless set (see docs/benchmarks.md)')
    .option('--out <path>', 'where the JSON goes (test/bench/results/knowledge-<time>.json)')
    .action(async (flags: Flags) => {
      const { runKnowledge } = await import('./run.ts');
      const base = flags.quick ? quick : full;
      await runKnowledge({
        parts: flags.only,
        scale: {
          ...base,
          rounds: flags.rounds ?? base.rounds,
          chunks: Math.ceil((flags.chunks ?? base.chunks) / 10) * 10,
          manyFiles: flags.files ?? base.manyFiles,
        },
        against: flags.against,
        large: { dimension: flags.dimensions, stores: flags.store },
        dataFolder: flags.data ?? process.env['BENCH_DATA'],
        ...(flags.out === undefined ? {} : { out: flags.out }),
      });
    });
}
