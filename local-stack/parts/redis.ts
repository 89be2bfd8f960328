import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';

import type { Part } from '../supervisor.ts';
import { ensureSecret } from './secret.ts';

export interface RedisOptions {
  readonly binary: string;
  readonly port: number;
  /** Where its password is kept; for the owner's eyes only. */
  readonly folder: string;
}

/** As LiveKit and its SIP service take it. */
export interface RedisAddress {
  /** `host:port`. */
  readonly address: string;
  readonly password: string;
}

/** How to reach the server; its password is made at the first start. */
export function redisAddress({ folder, port }: Pick<RedisOptions, 'folder' | 'port'>): RedisAddress {
  return { address: `127.0.0.1:${port}`, password: ensureSecret(folder, 'redis-password') };
}

/** What the media server keeps trunks and dispatch rules in, and hears its SIP gateway through. */
export function redisPart(options: RedisOptions): Part {
  const { password } = redisAddress(options);
  const configuration = join(options.folder, 'redis.conf');
  return {
    name: 'redis',
    dependsOn: [],
    // Every account of the machine can read the arguments of a process.
    prepare: async () => writeFileSync(configuration, `requirepass ${password}\n`, { mode: 0o600 }),
    command: () => ({
      file: options.binary,
      args: [
        configuration,
        '--bind',
        '127.0.0.1',
        '--port',
        String(options.port),
        // Nothing on the disk: rooms are over with a restart, and trunks, which have passwords, are made again by the operator.
        '--save',
        '',
        '--appendonly',
        'no',
        '--maxmemory',
        '64mb',
      ],
    }),
    check: async (signal) => (await redisCommand(options, 'PING', signal)).startsWith('+PONG'),
  };
}

/** The server's answer to one command. While it loads what it has, it answers an error. */
export function redisCommand(options: Pick<RedisOptions, 'folder' | 'port'>, command: string, signal?: AbortSignal): Promise<string> {
  const { password } = redisAddress(options);
  return new Promise((resolve, reject) => {
    const socket = connect({ port: options.port, host: '127.0.0.1', ...(signal && { signal }) });
    let answers = '';
    socket.once('connect', () => socket.write(`AUTH ${password}\r\n${command}\r\n`));
    socket.on('data', (chunk) => {
      answers += chunk.toString();
      const [, answer, end] = answers.split('\r\n');
      if (end === undefined) return;
      socket.destroy();
      resolve(answer ?? '');
    });
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('redis closed the connection')));
  });
}
