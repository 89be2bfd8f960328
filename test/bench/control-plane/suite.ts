import { Option } from 'commander';

import { progress } from '../harness/progress.ts';
import { benchmark, onServers, type PartResult } from '../harness/suite.ts';
import { clients } from './clients.ts';
import { BenchCluster } from './cluster.ts';
import { facade } from './facade.ts';
import { loops } from './loops.ts';
import { operator } from './operator.ts';
import type { ControlPlanePart, ControlPlaneScale } from './part.ts';
import { startStack, type BenchStack } from './stack.ts';

interface Servers {
  readonly cluster: BenchCluster;
  readonly stack: BenchStack;
  stop(): Promise<void>;
}

const full: ControlPlaneScale = {
  rounds: 5,
  turnMs: 5_000,
  objects: 10_000,
  changesPerSecond: 10,
  steadySeconds: 180,
  restSeconds: 60,
  loopObjects: 1_000,
  loopSeconds: 30,
  loopRounds: 3,
};

export const run = benchmark<ControlPlaneScale, Servers, { readonly kubeconfig?: string }>({
  name: 'control-plane',
  description:
    'own Kubernetes client against the stock one (a), REST facade against the raw API (b), time from apply to Ready and the cost of rest (c), status loop against a Go controller (d)',
  // (c) comes last: it leaves a full server behind.
  parts: { a: runner(clients), b: runner(facade), d: runner(loops), c: runner(operator) },
  full,
  quick: {
    rounds: 2,
    turnMs: 1_000,
    objects: 300,
    changesPerSecond: 10,
    steadySeconds: 10,
    restSeconds: 10,
    loopObjects: 100,
    loopSeconds: 5,
    loopRounds: 2,
  },
  numbers: {
    rounds: [`turns of each contender in (a) and (b) (${full.rounds})`, (rounds) => ({ rounds })],
    objects: [`Agents that exist during (c) (${full.objects})`, (objects) => ({ objects })],
    rate: [`changes a second in the steady part of (c) (${full.changesPerSecond})`, (changesPerSecond) => ({ changesPerSecond })],
    'steady-seconds': [`length of the steady part of (c) (${full.steadySeconds})`, (steadySeconds) => ({ steadySeconds })],
  },
  options: [
    new Option(
      '--kubeconfig <path>',
      'measure against this API server, with the resource definitions installed, instead of starting one ((a) and (d) only)',
    ),
  ],
  async start({ flags }) {
    progress('starting the servers');
    const stack = await startStack({ env: process.env, ...flags });
    const cluster = new BenchCluster(stack);
    return {
      cluster,
      stack,
      async stop() {
        await cluster.close();
        await stack.stop();
      },
    };
  },
});

function runner<R>(part: ControlPlanePart<R>) {
  return onServers<ControlPlaneScale, Servers, object>(async ({ host, ...context }): Promise<PartResult> => {
    context.progress(part.title);
    const figures = await part.run({ ...context, ...host });
    return { figures, tables: part.tables(figures) };
  });
}
