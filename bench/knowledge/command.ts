import { InvalidArgumentError, type Command } from 'commander';

export const partNames = ['quality'] as const;
export type PartName = (typeof partNames)[number];

interface Flags {
  readonly only: readonly PartName[];
  readonly data?: string;
  readonly out?: string;
}

export function registerKnowledge(program: Command): void {
  program
    .command('knowledge')
    .description('knowledge bases: how good the offline ranking is beside plain BM25 (quality)')
    .option('--only <parts>', `which parts to run: ${partNames.join(', ')}`, parseParts, partNames)
    .option('--data <folder>', 'where the test collections are; BENCH_DATA unless set (see docs/benchmarks.md)')
    .option('--out <path>', 'where the JSON goes (bench/results/knowledge-<time>.json)')
    .action(async (flags: Flags) => {
      const { runKnowledge } = await import('./run.ts');
      await runKnowledge({
        parts: flags.only,
        dataFolder: flags.data ?? process.env['BENCH_DATA'],
        ...(flags.out === undefined ? {} : { out: flags.out }),
      });
    });
}

function parseParts(text: string): readonly PartName[] {
  const wanted = text.split(',').map((part) => part.trim());
  const unknown = wanted.filter((part) => !partNames.some((known) => known === part));
  if (unknown.length > 0) throw new InvalidArgumentError(`there is no ${unknown.join(', ')}; allowed are ${partNames.join(', ')}.`);
  return partNames.filter((part) => wanted.includes(part));
}
