/** Runs one contender of (a) in a process of its own, so that its CPU time is its own. It takes turns over IPC. */
import { channel } from 'node:diagnostics_channel';

import { load } from '../harness/rounds.ts';
import { summarize } from '../harness/stats.ts';
import { contenders, type ClientName } from './client-contenders.ts';

export interface ClientTurn {
  readonly operation: 'get' | 'applyStatus';
  readonly inFlight: number;
  readonly durationMs: number;
}

export interface TurnResult {
  readonly requests: number;
  readonly elapsedMs: number;
  readonly cpuMs: number;
  /** TCP connections opened since the process began, warm-up included. */
  readonly connections: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export type WorkerAnswer = { readonly result: TurnResult } | { readonly error: string };

const [contender = '', kubeconfig = '', namespace = '', ...names] = process.argv.slice(2);
const client = contenders[contender as ClientName]({ kubeconfig, namespace });

// Both clients speak through undici, each through its own copy; the channel belongs to the process.
let connections = 0;
channel('undici:client:connected').subscribe(() => (connections += 1));

let writes = 0;

async function take(turn: ClientTurn): Promise<TurnResult> {
  const cpuBefore = process.cpuUsage();
  const { requests, elapsedMs, latenciesMs } = await load({
    inFlight: turn.inFlight,
    durationMs: turn.durationMs,
    request: async (index) => {
      const name = names[index % names.length] ?? '';
      await (turn.operation === 'get' ? client.get(name) : client.applyStatus(name, (writes += 1)));
    },
  });
  const cpu = process.cpuUsage(cpuBefore);
  const { p50, p99 } = summarize(latenciesMs);
  return { requests, elapsedMs, cpuMs: (cpu.user + cpu.system) / 1000, connections, p50Ms: p50, p99Ms: p99 };
}

function answer(message: WorkerAnswer): void {
  process.send?.(message);
}

process.on('message', (turn: ClientTurn) => {
  take(turn).then(
    (result) => answer({ result }),
    (error: unknown) => answer({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  );
});
process.on('disconnect', () => void client.close());
