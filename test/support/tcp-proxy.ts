import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface TcpProxy {
  readonly port: number;
  /** Number of connections that were refused. */
  readonly refused: number;
  /** Breaks every connection and refuses new ones, as a server that has gone does. */
  cut(): void;
  /** Refuses new connections, and keeps those that are there. */
  refuse(): void;
  /** Lets nothing through any more and closes nothing, as a network that drops packets does. */
  stall(): void;
  restore(): void;
  close(): Promise<void>;
}

/** Stands between a client and a server on this machine, so that a test can take the server away from that client alone. */
export async function startTcpProxy(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let refused = 0;
  let state: 'open' | 'closed' | 'stalled' = 'open';
  const server = createServer((client) => {
    if (state === 'closed') {
      refused += 1;
      client.resetAndDestroy();
      return;
    }
    if (state === 'stalled') {
      sockets.add(client);
      client.on('error', () => undefined);
      client.on('close', () => sockets.delete(client));
      return;
    }
    const upstream = connect(target);
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const breakAll = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    get refused() {
      return refused;
    },
    cut() {
      state = 'closed';
      breakAll();
    },
    refuse() {
      state = 'closed';
    },
    stall() {
      state = 'stalled';
      for (const socket of sockets) socket.unpipe().pause();
    },
    restore() {
      // A stalled connection has lost what was sent meanwhile.
      if (state === 'stalled') breakAll();
      state = 'open';
    },
    async close() {
      breakAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** @param address URL of the server, with its port */
export function startProxyOf(address: string): Promise<TcpProxy> {
  const { hostname: host, port } = new URL(address);
  return startTcpProxy({ host, port: Number(port) });
}
