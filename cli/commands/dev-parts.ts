import type { Command } from 'commander';

/** A part of `parley dev` and of the chart parley-demo: hidden because people do not run it by hand. */
export function registerDevSpeech(program: Command): void {
  program
    .command('dev-speech', { hidden: true })
    .description('serve rule-based speech and answers to the local stack, without a speech service or a language model')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .requiredOption('--port <port>', 'port to listen on', Number)
    .action(async (address: { readonly host: string; readonly port: number }) => {
      const { runDevSpeech } = await import('../../local-stack/speech/main.ts');
      await runDevSpeech({ ...address, env: process.env });
    });
}

/** A component of `parley dev`: hidden because people do not run it by hand. */
export function registerDevRelay(program: Command): void {
  program
    .command('dev-relay', { hidden: true })
    .description('forward Unix sockets to the ports of a server in its own network namespace')
    .argument('<pid>', 'process of the server', Number)
    .argument('<routes...>', '<port>=<path of a socket>')
    .action(async (pid: number, routes: readonly string[]) => {
      const { relay } = await import('../../local-stack/components/temporal-relay.ts');
      await relay({
        pid,
        routes: routes.map((route) => {
          const at = route.indexOf('=');
          return [route.slice(at + 1), Number(route.slice(0, at))] as const;
        }),
      });
      // Closes the sockets of clients that are still connected.
      process.exit(0);
    });
}
