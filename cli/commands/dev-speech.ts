import type { Command } from 'commander';

/** A part of `parley dev`: hidden because people do not run it by hand. */
export function registerDevSpeech(program: Command): void {
  program
    .command('dev-speech', { hidden: true })
    .description('serve rule-based speech and answers to the local stack, without a speech service or a language model')
    .requiredOption('--port <port>', 'port on the loopback address', Number)
    .action(async ({ port }: { readonly port: number }) => {
      const { runDevSpeech } = await import('../../local-stack/speech/main.ts');
      await runDevSpeech({ port, env: process.env });
    });
}
