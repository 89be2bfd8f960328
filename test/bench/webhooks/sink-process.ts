/** Starts the receiver and asks it for what came. */
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { startChild } from '../harness/child.ts';
import { LOG_FOLDER } from '../harness/role.ts';

export interface Arrival {
  readonly path: string;
  /** `evt_…` */
  readonly id: string;
  /** Milliseconds since the Unix epoch, with fractions. */
  readonly at: number;
}

export interface SinkProcess {
  readonly pid: number;
  url(path: string): string;
  counts(): Promise<{ readonly received: number; readonly distinct: number; readonly hanging: number }>;
  /** Resolves once so many different deliveries have come. @throws Error when no new one has come for `quietMs` (default one minute) */
  arrived(distinct: number, quietMs?: number): Promise<void>;
  arrivals(): Promise<readonly Arrival[]>;
  forget(): Promise<void>;
  stop(): Promise<void>;
}

export async function startSink(): Promise<SinkProcess> {
  const child = startChild({
    file: process.execPath,
    args: [fileURLToPath(new URL('./sink.ts', import.meta.url))],
    logFile: `${LOG_FOLDER}sink.log`,
  });
  await child.until('listening', async () => /^\d+\n/m.test(child.log()));
  const origin = `http://127.0.0.1:${/^(\d+)$/m.exec(child.log())?.[1] ?? ''}`;
  const counts = async (): ReturnType<SinkProcess['counts']> =>
    (await (await fetch(`${origin}/counts`)).json()) as Awaited<ReturnType<SinkProcess['counts']>>;
  return {
    pid: child.pid,
    url: (path) => `${origin}${path}`,
    counts,
    async arrived(wanted, quietMs = 60_000) {
      let last = -1;
      for (let quietSince = performance.now(); ;) {
        const { distinct } = await counts();
        if (distinct >= wanted) return;
        if (distinct !== last) quietSince = performance.now();
        if (performance.now() - quietSince > quietMs) throw new Error(`${distinct} of ${wanted} deliveries have come, and no more do`);
        last = distinct;
        await delay(100);
      }
    },
    async arrivals() {
      const text = await (await fetch(`${origin}/arrivals`)).text();
      return text === '' ? [] : text.split('\n').map(arrivalOf);
    },
    async forget() {
      await fetch(origin, { method: 'DELETE' });
    },
    stop: () => child.stop(),
  };
}

function arrivalOf(line: string): Arrival {
  const [path = '', id = '', at = ''] = line.split(' ');
  return { path, id, at: Number(at) };
}
