import type { Command } from 'commander';

/** A component of `parley dev`: hidden, for nobody runs it by hand. */
export function registerDevRelay(program: Command): void {
  program
    .command('dev-relay', { hidden: true })
    .description('the way into the network of a server on this machine: Unix sockets that lead to its ports')
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
      // The sockets of whoever is still connected end with it.
      process.exit(0);
    });
}
