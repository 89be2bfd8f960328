import type { Command } from 'commander';

export function registerTraces(program: Command): void {
  program
    .command('traces')
    .description('processor time of a turn in a conversation without traces, with them, and with what was said')
    .option('--quick', 'few turns')
    .option('--out <path>', 'where the JSON goes (test/bench/results/traces-<time>.json)')
    .action(async (flags: { readonly quick?: true; readonly out?: string }) => {
      const { runTraces } = await import('./run.ts');
      await runTraces(flags);
    });
}
