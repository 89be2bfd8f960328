import { connect, createServer, type Server } from 'node:net';

/**
 * Serves a port of the machine's loopback address at the node's address as well, where pods reach it. It doesn't rewrite addresses:
 * whatever component enforces NetworkPolicies would see the rewritten one.
 */
export async function forward({ host, port }: { readonly host: string; readonly port: number }): Promise<Server> {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const upstream = connect({ host: '127.0.0.1', port, allowHalfOpen: true, noDelay: true });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('error', () => to.destroy());
      // The pipe passes an orderly end on, behind the last data.
      from.on('close', () => from.readableEnded || to.destroy());
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return server;
}
