import type { Command } from 'commander';

/** A part of `parley dev`: hidden, for nobody runs it by hand. */
export function registerDevSpeech(program: Command): void {
  program
    .command('dev-speech', { hidden: true })
    .description('speech and answers for a stack on this machine: a robot that follows rules, no speech service and no language model')
    .requiredOption('--port <port>', 'port on the loopback address', Number)
    .action(async ({ port }: { readonly port: number }) => {
      const { runDevSpeech } = await import('../../local-stack/speech/main.ts');
      await runDevSpeech({ port, env: process.env });
    });
}
