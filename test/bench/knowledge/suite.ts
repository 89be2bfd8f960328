import { Option } from 'commander';

import { partsOf, wholeNumber } from '../harness/flags.ts';
import { progress } from '../harness/progress.ts';
import { benchmark } from '../harness/suite.ts';
import { answers } from './answers.ts';
import { pdf, queue, throughput } from './documents.ts';
import { startHost, type KnowledgeHost } from './host.ts';
import { large } from './large/large.ts';
import type { KnowledgeFlags, KnowledgeScale } from './part.ts';
import { quality } from './quality.ts';
import { search } from './search.ts';
import { volume } from './volume.ts';

const full: KnowledgeScale = {
  rounds: 5,
  turnMs: 4_000,
  chunks: 10_000,
  concurrent: 20,
  pages: 350,
  bigFiles: 20,
  smallFiles: 100,
  manyFiles: 1_400,
};

export const run = benchmark<KnowledgeScale, KnowledgeHost, KnowledgeFlags>({
  name: 'knowledge',
  description:
    'knowledge bases: how good the offline ranking is against plain BM25 (quality), answers in documents of twelve languages (answers), search in both stores (search), a long PDF (pdf), a small file behind big ones (queue), many small files (throughput), the same over REST with all roles (volume), large knowledge bases (large)',
  parts: { quality, answers, search, pdf, queue, throughput, volume, large },
  full,
  quick: { rounds: 1, turnMs: 500, chunks: 500, concurrent: 20, pages: 20, bigFiles: 4, smallFiles: 10, manyFiles: 40 },
  numbers: {
    rounds: [`turns of each contender (${full.rounds})`, (rounds) => ({ rounds })],
    chunks: [`chunks that are searched, in tens (${full.chunks})`, (chunks) => ({ chunks: Math.ceil(chunks / 10) * 10 })],
    files: [`files of 1 KB that volume uploads (${full.manyFiles})`, (manyFiles) => ({ manyFiles })],
  },
  options: [
    new Option('--against <folder>', 'another checkout, built: volume measures its roles next to those of this one'),
    new Option('--store <names>', 'stores that large measures: pgvector, milvus')
      .argParser(partsOf(['pgvector', 'milvus'] as const))
      .default(['pgvector']),
    new Option('--dimensions <n>', 'of the vectors of large').argParser(wholeNumber).default(384),
    new Option('--data <folder>', 'where the test collections are; BENCH_DATA unless set (see docs/benchmarks.md)'),
  ],
  start: () => startHost(process.env, progress),
});
