import type { Command } from 'commander';

export function registerApi(program: Command): void {
  program
    .command('api')
    .description('serve the REST API; configured by environment variables, see `parley config`')
    .action(async () => {
      const [{ runRole }, { runApi }] = await Promise.all([import('../roles.ts'), import('../../api/main.ts')]);
      await runRole('api', runApi);
    });
}
