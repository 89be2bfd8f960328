import type { Command } from 'commander';

export function registerWorker(program: Command): void {
  program
    .command('worker')
    .description('run background workflows (Temporal); configured by environment variables, see `parley config`')
    .action(async () => {
      const [{ runRole }, { runWorker }] = await Promise.all([import('../roles.ts'), import('../../workflows/main.ts')]);
      await runRole('worker', runWorker);
    });
}
