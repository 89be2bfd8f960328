/** CPU and memory of the media of many rooms: in a Go process next to Node, and in Node. Callers and the media server are not in it. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { AccessToken, RoomServiceClient } from 'livekit-server-sdk';

import { TestStack } from '../../support/test-stack.ts';
import { treeCpuMs } from '../harness/process-tree.ts';
import { progress } from '../harness/progress.ts';
import { runParts } from '../harness/run-parts.ts';
import { figure, megabytes } from '../harness/table.ts';
import { treeMemory } from '../voice/processes.ts';
import type { AgentsPlan } from './plan.ts';

export interface MediaSidecarOptions {
  readonly rooms: readonly number[];
  /** Of each measurement. */
  readonly seconds: number;
  readonly out?: string | undefined;
}

type Contender = 'rtc-node' | 'sidecar';

interface Measured {
  readonly contender: Contender;
  readonly rooms: number;
  /** Of a core, for each room. */
  readonly cpuShare: number;
  readonly connectCpuMs: number;
  readonly bytes: number;
  /** Frames of sound that callers heard, of those in the answers. */
  readonly heardShare: number;
}

/** Rooms have settled by then, in milliseconds. */
const SETTLE_MS = 8_000;
/** Of 20 ms, in two seconds. */
const FRAMES_OF_ANSWER = 100;

/** @throws Error where Go or its libraries are missing */
export async function runMediaSidecar({ rooms, seconds, out }: MediaSidecarOptions): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-sidecar-'));
  const program = join(folder, 'media-sidecar');
  progress('building the sidecar');
  await promisify(execFile)('go', ['build', '-o', program, '.'], { cwd: import.meta.dirname });
  const stack = new TestStack({});
  const measure = async (contender: Contender, count: number): Promise<Measured> => {
    progress(`${count} rooms by ${contender}`);
    const { url, apiKey, apiSecret } = await stack.mediaServer();
    const client = new RoomServiceClient(url.replace(/^ws/, 'http'), apiKey, apiSecret);
    const names = Array.from({ length: count }, (_, index) => `${contender}-${count}-${index}`);
    for (const name of names) await client.createRoom({ name });
    const placesOf = (identity: string): Promise<AgentsPlan['rooms']> =>
      Promise.all(
        names.map(async (room) => {
          const token = new AccessToken(apiKey, apiSecret, { identity });
          token.addGrant({ room, roomJoin: true });
          return { url, token: await token.toJwt(), tap: join(folder, room) };
        }),
      );
    const sidecar = contender === 'sidecar' ? { program, socket: join(folder, `${count}.sock`) } : undefined;
    const plan: AgentsPlan = { rooms: await placesOf('agent'), ...(sidecar && { sidecar }) };
    const agents = await started(process.execPath, [fileURLToPath(new URL('./agents.ts', import.meta.url))], plan);
    const connectCpuMs = (treeCpuMs(agents.pid) ?? Number.NaN) / count;
    const callers = await started(program, ['call'], await placesOf('user'));
    await delay(SETTLE_MS);
    const before = treeCpuMs(agents.pid) ?? Number.NaN;
    const began = performance.now();
    await delay(seconds * 1_000);
    const cpuShare = ((treeCpuMs(agents.pid) ?? Number.NaN) - before) / (performance.now() - began) / count;
    const bytes = treeMemory(agents.pid);
    const { answers = Number.NaN } = await agents.stop();
    const { frames = Number.NaN } = await callers.stop();
    for (const name of names) await client.deleteRoom(name);
    return { contender, rooms: count, cpuShare, connectCpuMs, bytes, heardShare: frames / (answers * FRAMES_OF_ANSWER) };
  };
  await runParts({
    benchmark: 'media-sidecar',
    parts: ['media'],
    run: async () => {
      const all: Measured[] = [];
      for (const count of rooms) for (const contender of ['rtc-node', 'sidecar'] as const) all.push(await measure(contender, count));
      return {
        figures: all,
        tables: [
          {
            title: 'The media of many rooms, by rtc-node in Node and by a Go process next to Node',
            columns: ['rooms', '', 'CPU of a room', 'CPU to connect one', 'memory', 'for each room', 'answers heard'],
            rows: all.map(({ rooms: count, contender, cpuShare, connectCpuMs, bytes, heardShare }) => [
              figure(count),
              contender,
              figure(100 * cpuShare, '%'),
              figure(connectCpuMs, 'ms'),
              megabytes(bytes),
              megabytes(bytes / count),
              figure(100 * heardShare, '%'),
            ]),
            notes: [
              'Users speak for 1.5 of 5 s, agents answer for 2 s. The sidecar is measured together with the Node process that it serves.',
              'CPU to connect includes the start of the processes. Memory that several processes share counts once (PSS).',
            ],
          },
        ],
      };
    },
    stop: async () => {
      await stack.stop();
      await rm(folder, { recursive: true, force: true });
    },
    scale: { rooms, seconds },
    out,
  });
}

interface Started {
  readonly pid: number;
  /** @returns what it reports at its end */
  stop(): Promise<Readonly<Record<string, number>>>;
}

/** @param input its standard input, as JSON @throws Error when it ends before it is ready */
async function started(file: string, args: readonly string[], input: unknown): Promise<Started> {
  const child: ChildProcess = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, NODE_ENV: 'production' } });
  child.stdin!.end(JSON.stringify(input));
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  const { value } = await lines.next();
  if (value !== 'ready') throw new Error(`${file} ${args.join(' ')} has ended: ${value}`);
  return {
    pid: child.pid!,
    async stop() {
      child.kill('SIGTERM');
      const { value: report } = await lines.next();
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      return JSON.parse(report ?? '{}') as Readonly<Record<string, number>>;
    },
  };
}
