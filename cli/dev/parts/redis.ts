import { connect } from 'node:net';

import type { Part } from '../supervisor.ts';

export interface RedisOptions {
  readonly binary: string;
  readonly port: number;
}

/** Host and port, as LiveKit takes them. */
export function redisAddress({ port }: Pick<RedisOptions, 'port'>): string {
  return `127.0.0.1:${port}`;
}

/** What the media server keeps trunks and dispatch rules in, and hears its SIP gateway through. */
export function redisPart(options: RedisOptions): Part {
  return {
    name: 'redis',
    dependsOn: [],
    command: () => ({
      file: options.binary,
      args: [
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
    check: (signal) => ping(options.port, signal),
  };
}

/** Whether it answers by itself; while it loads what it has it doesn't. */
function ping(port: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', signal });
    socket.once('connect', () => socket.write('PING\r\n'));
    socket.once('data', (answer) => {
      socket.destroy();
      resolve(answer.toString().startsWith('+PONG'));
    });
    socket.once('error', reject);
  });
}
