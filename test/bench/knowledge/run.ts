import { progress } from '../harness/progress.ts';
import { runParts } from '../harness/run-parts.ts';
import { answers } from './answers.ts';
import type { KnowledgePartName } from './command.ts';
import { pdf, queue, throughput } from './documents.ts';
import { startHost, type KnowledgeHost } from './host.ts';
import { indexing } from './indexing.ts';
import { large } from './large/large.ts';
import type { LargeOptions, KnowledgePart, KnowledgeScale } from './part.ts';
import { parsing } from './parsing.ts';
import { quality } from './quality.ts';
import { search } from './search.ts';
import { upload } from './upload.ts';
import { volume } from './volume.ts';

export interface KnowledgeOptions {
  readonly parts: readonly KnowledgePartName[];
  readonly scale: KnowledgeScale;
  readonly dataFolder: string | undefined;
  readonly against: string | undefined;
  readonly large: LargeOptions;
  /** Path of the JSON. */
  readonly out?: string;
}

const parts: Readonly<Record<KnowledgePartName, KnowledgePart>> = {
  quality,
  answers,
  indexing,
  search,
  pdf,
  queue,
  throughput,
  volume,
  parsing,
  upload,
  large,
};

/** @throws Error when any part failed, or a signal ended the run */
export async function runKnowledge({
  parts: names,
  scale,
  dataFolder,
  against,
  large: largeOptions,
  out,
}: KnowledgeOptions): Promise<void> {
  let starting: Promise<KnowledgeHost> | undefined;
  const host = (): Promise<KnowledgeHost> => (starting ??= startHost(process.env, progress));
  await runParts({
    benchmark: 'knowledge',
    parts: names,
    run: (name) => parts[name]({ dataFolder, against, scale, large: largeOptions, host, progress }),
    stop: async () => starting?.then((started) => started.stop()),
    scale,
    out,
  });
}
