import type { Command } from 'commander';

import { wholeNumber } from '../harness/flags.ts';

export function registerRateLimits(program: Command): void {
  program
    .command('rate-limits')
    .description('request limits over several replicas: kept apart, by exchange, and by a statement for each request')
    .option('--seconds <n>', 'length of each measurement', wholeNumber, 10)
    .option('--out <path>', 'where the JSON goes (test/bench/results/rate-limits-<time>.json)')
    .action(async (flags: { readonly seconds: number; readonly out?: string }) => {
      const { runRateLimits } = await import('./run.ts');
      await runRateLimits(flags);
    });
}
