/** The media of all rooms in the sidecar, which sends utterances over a Unix socket: serve.go has the messages. */
import { spawn } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

import type { AgentsPlan } from './plan.ts';

const HEAD = 7;

export async function answerBySidecar(
  { rooms }: AgentsPlan,
  { program, socket }: NonNullable<AgentsPlan['sidecar']>,
  answer: () => Int16Array,
): Promise<void> {
  const child = spawn(program, ['serve', socket], { stdio: ['ignore', 'ignore', 'inherit'] });
  process.once('exit', () => child.kill());
  const peer = await connected(socket);
  const entered = Promise.withResolvers<void>();
  let waiting = rooms.length;
  let rest: Buffer = Buffer.alloc(0);
  peer.on('data', (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    while (rest.length >= HEAD && rest.length >= 4 + rest.readUInt32BE()) {
      const [kind, room] = [String.fromCharCode(rest[4]!), rest.readUInt16BE(5)];
      rest = rest.subarray(4 + rest.readUInt32BE());
      if (kind === 'u') send(peer, 'S', room, Buffer.from(answer().buffer));
      if (kind === 'j' && (waiting -= 1) === 0) entered.resolve();
    }
  });
  for (const [index, room] of rooms.entries()) send(peer, 'J', index, Buffer.from(JSON.stringify(room)));
  await entered.promise;
}

function send(peer: Socket, kind: string, room: number, payload: Buffer): void {
  const head = Buffer.alloc(HEAD);
  head.writeUInt32BE(payload.length + 3);
  head.write(kind, 4);
  head.writeUInt16BE(room, 5);
  peer.write(Buffer.concat([head, payload]));
}

/** Once it listens. */
async function connected(path: string): Promise<Socket> {
  for (let attempt = 0; ; attempt += 1) {
    const peer = connect(path);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    peer.once('connect', () => resolve(true));
    peer.once('error', () => resolve(false));
    if (await promise) return peer;
    if (attempt === 100) throw new Error(`the sidecar does not listen on ${path}`);
    await delay(50);
  }
}
