import { fileURLToPath } from 'node:url';

import { InvalidArgumentError, type Command } from 'commander';

export function registerRateLimits(program: Command): void {
  program
    .command('rate-limits')
    .description('request limits over several replicas: kept apart, by exchange, and by a statement for each request')
    .option('--seconds <n>', 'length of each measurement', wholeNumber, 10)
    .option('--out <path>', 'where the JSON goes (test/bench/results/rate-limits-<time>.json)')
    .action(async (flags: { readonly seconds: number; readonly out?: string }) => {
      const { runRateLimits } = await import('./run.ts');
      const name = `rate-limits-${new Date().toISOString().replaceAll(/[:.]/g, '-')}.json`;
      await runRateLimits({ seconds: flags.seconds, out: flags.out ?? fileURLToPath(new URL(`../results/${name}`, import.meta.url)) });
    });
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('must be a whole number from 1.');
  return value;
}
