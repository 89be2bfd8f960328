import type { Command } from 'commander';

import { partsOf, wholeNumber } from '../harness/flags.ts';

export const partNames = ['tts'] as const;
export type PartName = (typeof partNames)[number];

interface Flags {
  readonly only: readonly PartName[];
  readonly rounds: number;
  readonly out?: string;
}

export function registerVoiceBench(program: Command): void {
  program
    .command('voice')
    .description("calls: from a text to its first sound, beside LiveKit's own adapter (tts)")
    .option('--only <parts>', `which parts to run: ${partNames.join(', ')}`, partsOf(partNames), partNames)
    .option('--rounds <n>', 'turns of each contender', wholeNumber, 20)
    .option('--out <path>', 'where the JSON goes (bench/results/voice-<time>.json)')
    .action(async ({ only, rounds, out }: Flags) => {
      const { runVoiceBench } = await import('./run.ts');
      await runVoiceBench({ parts: only, rounds, ...(out !== undefined && { out }) });
    });
}
