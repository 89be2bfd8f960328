import type { Command } from 'commander';

export function registerEventLoop(program: Command): void {
  program
    .command('event-loop')
    .description('what one request may cost the others: compiling a JSON Schema or judging it, serialising a list at once or in slices')
    .option('--out <path>', 'where the JSON goes (test/bench/results/event-loop-<time>.json)')
    .action(async (flags: { readonly out?: string }) => {
      const { runEventLoop } = await import('./run.ts');
      await runEventLoop(flags);
    });
}
