import { createServer, type Server } from 'node:net';

/**
 * Below what systems give to connections that go out (Linux from 32768, macOS from 49152): such a port may be taken by any of them
 * between being found free and being used, and whenever its server is away for a moment. And below Kubernetes' node ports, from 30000.
 */
const range = { first: 20_000, count: 10_000 } as const;

/** Whether nobody listens on this port of the loopback address. */
export async function portIsFree(port: number): Promise<boolean> {
  const server = await listenOn(port);
  if (server !== undefined) await close(server);
  return server !== undefined;
}

/**
 * Free ports, all different: they are held together until the last one is known. They follow each other from some point on, so that
 * what is started at the same time elsewhere rarely finds one of them.
 * @param from where the search begins, 0 … 1
 * @throws Error where there are not so many
 */
export async function freePorts(count: number, from: number = Math.random()): Promise<readonly number[]> {
  const held: { readonly port: number; readonly server: Server }[] = [];
  try {
    const start = Math.floor(from * range.count);
    for (let step = 0; held.length < count; step += 1) {
      if (step === range.count) throw new Error(`there are no ${count} free ports from ${range.first} to ${range.first + range.count - 1}`);
      const port = range.first + ((start + step) % range.count);
      const server = await listenOn(port);
      if (server !== undefined) held.push({ port, server });
    }
  } finally {
    await Promise.all(held.map(({ server }) => close(server)));
  }
  return held.map(({ port }) => port);
}

function listenOn(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => resolve(server));
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => void server.close(() => resolve()));
}
