/** Runs Milvus in one process, for suites that talk to the real thing. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { testPython } from './programs.ts';

const milvusLite = {
  name: 'milvus-lite',
  requirements: ['milvus-lite==3.2.2', 'pymilvus==3.0.2'],
};

export interface MilvusLite {
  readonly host: string;
  readonly port: number;
  /** Kills the process and leaves the data. */
  kill(): Promise<void>;
  /** Starts the process again on the same port, with the same data. */
  start(): Promise<void>;
  /** Ends the process and removes the data. */
  stop(): Promise<void>;
}

export async function startMilvusLite(): Promise<MilvusLite> {
  // The program next to the interpreter won't do: it names the folder in which it was installed, before it came into the cache.
  const interpreter = await testPython(milvusLite);
  const folder = await mkdtemp(join(tmpdir(), 'parley-milvus-'));
  const port = await freePort();
  let child: ChildProcess | undefined;
  const kill = async (): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  const start = async (): Promise<void> => {
    let output = '';
    const started = spawn(
      interpreter,
      // The server handles one request at a time: two that write break its write-ahead log, and lose what follows when it dies (3.2.2).
      ['-m', 'milvus_lite', 'server', '--max-workers', '1', '--data-dir', join(folder, 'data'), '--host', '127.0.0.1', '--port', `${port}`],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    child = started;
    for (const stream of [started.stdout, started.stderr])
      stream.on('data', (chunk: Buffer) => (output = `${output}${chunk.toString()}`.slice(-4_000)));
    const ended = once(started, 'exit').then(() => {
      throw new Error(`milvus-lite ended: ${output}`);
    });
    await Promise.race([ended, eventually(() => reachable(port))]);
    // The end of the process is the caller's business from here on.
    ended.catch(() => undefined);
  };
  await start();
  return {
    host: '127.0.0.1',
    port,
    kill,
    start,
    async stop() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function reachable(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve();
    });
    socket.on('error', reject);
  });
}
