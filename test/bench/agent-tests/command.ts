import type { Command } from 'commander';

export function registerAgentTests(program: Command): void {
  program
    .command('agent-tests')
    .description('parley test: until the first conversation begins, 100 tests, 1,000 attempts, with a scripted model and replayed')
    .option('--quick', 'few tests and attempts')
    .option('--no-build', 'the bundle is there')
    .option('--out <path>', 'where the JSON goes (test/bench/results/agent-tests-<time>.json)')
    .action(async (flags: { readonly quick?: true; readonly build: boolean; readonly out?: string }) => {
      const { runAgentTests } = await import('./run.ts');
      await runAgentTests(flags);
    });
}
