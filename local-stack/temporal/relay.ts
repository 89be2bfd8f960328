/** Inside the network of a program that nobody outside reaches: the way in is a Unix socket, which has the permissions of its folder. */
import { rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { basename, dirname } from 'node:path';

import { processAlive } from '../processes.ts';
import { shortPath } from './short-path.ts';

export interface RelayOptions {
  /** Each Unix socket, and the port of the loopback address that it leads to. */
  readonly routes: readonly (readonly [socket: string, port: number])[];
  /** The program. Its end is the relay's. */
  readonly pid: number;
}

const LOOK_MS = 200;

/** @returns when the program is gone */
export async function relay({ routes, pid }: RelayOptions): Promise<void> {
  for (const [path, port] of routes) {
    // Left by the one before, which may still be on its way out.
    rmSync(path, { force: true });
    const server = createServer((inner) => {
      const outer = connect({ port, host: '127.0.0.1' });
      inner.pipe(outer).pipe(inner);
      inner.on('error', () => outer.destroy()).on('close', () => outer.destroy());
      outer.on('error', () => inner.destroy()).on('close', () => inner.destroy());
    });
    await new Promise<void>((resolve, reject) =>
      server.once('error', reject).listen(shortPath(dirname(path), basename(path)), () => resolve()),
    );
  }
  while (processAlive(pid)) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}
