import type { Command } from 'commander';

export function registerDispatcher(program: Command): void {
  program
    .command('dispatcher')
    .description('deliver events to webhook subscriptions; configured by environment variables, see `parley config`')
    .action(async () => {
      const [{ runRole }, { runDispatcher }] = await Promise.all([import('../roles.ts'), import('../../webhooks/dispatcher/main.ts')]);
      await runRole('dispatcher', runDispatcher);
    });
}
