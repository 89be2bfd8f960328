/** Relays into the network namespace of a program: the only way in is a Unix socket, which has the permissions of its folder. */
import { openSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { basename, dirname } from 'node:path';

import { awakeClock } from '../../platform/clock.ts';
import { pollUntil } from '../../platform/poll-until.ts';
import { processAlive } from '../processes.ts';

export interface SocketRelayOptions {
  /** Unix sockets, each with the port of the loopback address that it leads to. */
  readonly routes: readonly (readonly [socket: string, port: number])[];
  /** Process id of the program: the relay ends with it. */
  readonly pid: number;
}

const POLL_MS = 200;

/** @returns when the program has ended */
export async function relay({ routes, pid }: SocketRelayOptions): Promise<void> {
  for (const [path, port] of routes) {
    // An earlier relay left the socket, and may still be on its way out.
    rmSync(path, { force: true });
    const server = createServer((inner) => joinSockets(inner, connect({ port, host: '127.0.0.1' })));
    await new Promise<void>((resolve, reject) =>
      server.once('error', reject).listen(shortPath(dirname(path), basename(path)), () => resolve()),
    );
  }
  await pollUntil(() => !processAlive(pid), Boolean, { everyMs: POLL_MS, clock: awakeClock });
}

/** Joins two sockets: each sends on what the other receives, and ends with it. */
export function joinSockets(left: Socket, right: Socket): void {
  left.pipe(right).pipe(left);
  left.on('error', () => right.destroy()).on('close', () => right.destroy());
  right.on('error', () => left.destroy()).on('close', () => left.destroy());
}

const opened = new Map<string, number>();

/** Shortens the path of a Unix socket, which has 107 bytes at most: people's folders are longer, and Linux names open folders. */
export function shortPath(folder: string, name: string): string {
  let fd = opened.get(folder);
  if (fd === undefined) opened.set(folder, (fd = openSync(folder, 'r')));
  return `/proc/self/fd/${fd}/${name}`;
}
