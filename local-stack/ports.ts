import { createServer, type ListenOptions, type Server } from 'node:net';

/**
 * Below what systems give to connections that go out (Linux from 32768, macOS from 49152): such a port may be taken by any of them
 * between being found free and being used, and whenever its server is unavailable for a moment. And below Kubernetes' node ports, from 30000.
 */
const range = { first: 20_000, count: 10_000 } as const;

/** Whether this port of the loopback address is free. */
export async function portIsFree(port: number): Promise<boolean> {
  const server = await listenOn(port);
  if (server !== undefined) await close(server);
  return server !== undefined;
}

/**
 * Free ports, all different: they are held together until the last one is known, and claimed until this process ends.
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
      if (server === undefined) continue;
      if (await claim(port)) held.push({ port, server });
      else await close(server);
    }
  } finally {
    await Promise.all(held.map(({ server }) => close(server)));
  }
  return held.map(({ port }) => port);
}

/**
 * Keeps a port from other processes that look for one: between being found free and being used nothing else shows that it is taken.
 * Only Linux has such names, which go with their process.
 */
async function claim(port: number): Promise<boolean> {
  if (process.platform !== 'linux') return true;
  const server = await listen({ path: `\0parley-port-${port}` });
  server?.unref();
  return server !== undefined;
}

function listenOn(port: number): Promise<Server | undefined> {
  return listen({ port, host: '127.0.0.1' });
}

function listen(address: ListenOptions): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ ...address, exclusive: true }, () => resolve(server));
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => void server.close(() => resolve()));
}
