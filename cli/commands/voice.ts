import type { Command } from 'commander';

export function registerVoice(program: Command): void {
  program
    .command('voice')
    .description('serve calls (LiveKit); configured by environment variables, see `parley config`')
    .action(async () => {
      const [{ runRole }, { runVoice }] = await Promise.all([import('../roles.ts'), import('../../voice/main.ts')]);
      await runRole('voice', runVoice);
    });
}
