import type { Command } from 'commander';

export function registerOperator(program: Command): void {
  program
    .command('operator')
    .description('reconcile the five kinds; configured by environment variables, see `parley config`')
    .action(async () => {
      const [{ runRole }, { runOperator }] = await Promise.all([import('../roles.ts'), import('../../operator/main.ts')]);
      await runRole('operator', runOperator);
    });
}
