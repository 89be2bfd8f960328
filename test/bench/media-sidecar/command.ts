import type { Command } from 'commander';

import { wholeNumber } from '../harness/flags.ts';

interface Flags {
  readonly rooms: readonly number[];
  readonly seconds: number;
  readonly out?: string;
}

export function registerMediaSidecar(program: Command): void {
  program
    .command('media-sidecar')
    .description(
      'the media of many calls in one Go process next to Node, and in one Node process by rtc-node; needs Go, libopus-dev, libopusfile-dev, libsoxr-dev',
    )
    .option('--rooms <list>', 'how many rooms at once', (text: string) => text.split(',').map(wholeNumber), [10, 25, 50])
    .option('--seconds <n>', 'how long each is measured', wholeNumber, 30)
    .option('--out <path>', 'where the JSON goes (test/bench/results/media-sidecar-<time>.json)')
    .action(async (flags: Flags) => {
      const { runMediaSidecar } = await import('./run.ts');
      await runMediaSidecar(flags);
    });
}
