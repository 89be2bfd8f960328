import type { Command } from 'commander';

import { wholeNumber } from '../harness/flags.ts';

export function registerTenants(program: Command): void {
  program
    .command('tenants')
    .description('what one organisation feels of another that floods the installation, in twelve ways')
    .option('--seconds <n>', 'length of each measurement: alone, and under each flood', wholeNumber, 20)
    .option('--only <floods>', 'names of floods, with commas')
    .option('--out <path>', 'where the JSON goes (test/bench/results/tenants-<time>.json)')
    .action(async (flags: { readonly seconds: number; readonly only?: string; readonly out?: string }) => {
      const { runTenants } = await import('./run.ts');
      await runTenants(flags);
    });
}
