import { createSocket, type Socket } from 'node:dgram';
import { createServer, type ListenOptions, type Server } from 'node:net';

/**
 * The range lies below the ports that systems give to outgoing connections (Linux from 32768, macOS from 49152): any of those may take a
 * port between being found free and being used, and whenever its server is unavailable for a moment. It also lies below Kubernetes' node
 * ports, from 30000.
 */
const range = { first: 20_000, count: 10_000 } as const;

/** Tells whether this port of the loopback address is free, for TCP and for UDP. */
export async function portIsFree(port: number): Promise<boolean> {
  const held = await hold(port);
  await held?.release();
  return held !== undefined;
}

/**
 * Finds ports that are free for TCP and for UDP, all different: they are held together until the last one is known, and claimed until this
 * process ends.
 * @param from where the search begins, 0 … 1
 * @throws Error where there are not so many
 */
export async function freePorts(count: number, from: number = Math.random()): Promise<readonly number[]> {
  const held: Held[] = [];
  try {
    const start = Math.floor(from * range.count);
    for (let step = 0; held.length < count; step += 1) {
      if (step === range.count) throw new Error(`there are no ${count} free ports from ${range.first} to ${range.first + range.count - 1}`);
      const port = range.first + ((start + step) % range.count);
      const next = await hold(port);
      if (next === undefined) continue;
      if (await claim(port)) held.push(next);
      else await next.release();
    }
  } finally {
    await Promise.all(held.map((each) => each.release()));
  }
  return held.map(({ port }) => port);
}

/**
 * Keeps a port from other processes that look for one: between being found free and being used nothing else shows that it is taken. Only
 * Linux has such names, which go with their process.
 */
async function claim(port: number): Promise<boolean> {
  if (process.platform !== 'linux') return true;
  const server = await listen({ path: `\0parley-port-${port}` });
  server?.unref();
  return server !== undefined;
}

interface Held {
  readonly port: number;
  release(): Promise<unknown>;
}

async function hold(port: number): Promise<Held | undefined> {
  const server = await listen({ port, host: '127.0.0.1' });
  if (server === undefined) return undefined;
  const socket = await bind(port);
  if (socket !== undefined) return { port, release: () => Promise.all([close(server), close(socket)]) };
  await close(server);
  return undefined;
}

function listen(address: ListenOptions): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ ...address, exclusive: true }, () => resolve(server));
  });
}

function bind(port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4');
    socket.once('error', () => socket.close(() => resolve(undefined)));
    socket.bind({ port, address: '127.0.0.1', exclusive: true }, () => resolve(socket));
  });
}

function close(held: Server | Socket): Promise<void> {
  return new Promise((resolve) => void held.close(() => resolve()));
}
