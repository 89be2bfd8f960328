/** Compares (a) our Kubernetes client with the stock `@kubernetes/client-node`: same objects, same server, alternating turns. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { interleave } from '../harness/rounds.ts';
import { median, pairedRatio } from '../harness/stats.ts';
import { figure, times, type Table } from '../harness/table.ts';
import { agentNames, benchAgent } from './agents.ts';
import type { ClientName } from './client-contenders.ts';
import type { ClientTurn, TurnResult, WorkerAnswer } from './client-worker.ts';
import type { ControlPlanePart, ControlPlaneContext } from './part.ts';

const inFlight = 16;
const objects = 64;
const operations = ['get', 'applyStatus'] as const;
const titles = { get: 'GET', applyStatus: 'status apply' } as const;

export type ClientsResult = Record<(typeof operations)[number], Record<ClientName, readonly TurnResult[]>>;

export const clients: ControlPlanePart<ClientsResult> = {
  title: '(a) own client against @kubernetes/client-node 2.0.1',

  async run(context) {
    const namespace = await context.cluster.createNamespace('clients');
    const names = agentNames('client', objects);
    await context.cluster.applyAll(names.map((name) => benchAgent({ namespace, name })));

    const workers = { own: startWorker('own', context, namespace, names), stock: startWorker('stock', context, namespace, names) };
    try {
      const measure = (operation: ClientTurn['operation']): Promise<Record<ClientName, TurnResult[]>> => {
        const turn = { operation, inFlight, durationMs: context.scale.turnMs } satisfies ClientTurn;
        return interleave({
          rounds: context.scale.rounds,
          contenders: { own: () => takeTurn(workers.own, turn), stock: () => takeTurn(workers.stock, turn) },
          onTurn: ({ contender, round, warmUp }) =>
            context.progress(
              `(a) ${titles[operation]}, ${contender}, ${warmUp ? 'warm-up' : `round ${round + 1} of ${context.scale.rounds}`}`,
            ),
        });
      };
      return { get: await measure('get'), applyStatus: await measure('applyStatus') };
    } finally {
      for (const worker of Object.values(workers)) worker.disconnect();
      await context.cluster.releaseNamespace(namespace);
    }
  },

  tables: (result) => [clientsTable(result)],
};

function startWorker(name: ClientName, context: ControlPlaneContext, namespace: string, names: readonly string[]): ChildProcess {
  return fork(fileURLToPath(new URL('client-worker.ts', import.meta.url)), [name, context.cluster.kubeconfig, namespace, ...names]);
}

async function takeTurn(worker: ChildProcess, turn: ClientTurn): Promise<TurnResult> {
  const ended = new AbortController();
  const exit = once(worker, 'exit', { signal: ended.signal }).then(([code]) => ({ error: `the worker ended with code ${String(code)}` }));
  exit.catch(() => undefined);
  worker.send(turn);
  const answered = once(worker, 'message', { signal: ended.signal }).then(([message]) => message as WorkerAnswer);
  answered.catch(() => undefined);
  try {
    const answer = await Promise.race([answered, exit]);
    if ('error' in answer) throw new Error(`benchmark of the clients: ${answer.error}`);
    return answer.result;
  } finally {
    ended.abort();
  }
}

const perSecond = (turn: TurnResult): number => (turn.requests * 1000) / turn.elapsedMs;
const cpuPerRequest = (turn: TurnResult): number => turn.cpuMs / turn.requests;

function clientsTable(result: ClientsResult): Table {
  const rows = operations.flatMap((operation) => {
    const { own, stock } = result[operation];
    const row = (name: string, turns: readonly TurnResult[]): readonly string[] => [
      `${titles[operation]}, ${name}`,
      figure(median(turns.map(perSecond))),
      figure(median(turns.map(cpuPerRequest)), 'ms'),
      figure(median(turns.map((turn) => turn.p50Ms)), 'ms'),
      figure(median(turns.map((turn) => turn.p99Ms)), 'ms'),
      figure(turns.at(-1)?.connections),
    ];
    return [
      row('own', own),
      row('stock', stock),
      [
        `${titles[operation]}, own / stock`,
        times(pairedRatio(own.map(perSecond), stock.map(perSecond))),
        times(pairedRatio(own.map(cpuPerRequest), stock.map(cpuPerRequest))),
        '',
        '',
        '',
      ],
    ];
  });
  return {
    title: clients.title,
    columns: ['16 in flight', 'requests/s', 'CPU per request', 'p50', 'p99', 'connections so far'],
    rows,
    notes: [
      "Medians over the rounds; ratios are medians of round-by-round ratios. CPU is that of the client's own process.",
      'Connections are all that the process had opened by then, warm-up included.',
    ],
  };
}
