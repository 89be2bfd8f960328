import type { Command } from 'commander';

import { partsOf, wholeNumber } from '../harness/flags.ts';
import type { ControlPlaneScale } from './part.ts';

export const partNames = ['a', 'b', 'c', 'd', 'e'] as const;
export type ControlPlanePartName = (typeof partNames)[number];

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
  toolAgents: 50,
  toolsPerAgent: 40,
};

/** Enough to see that everything works; too little for a figure. */
const quick: ControlPlaneScale = {
  rounds: 2,
  turnMs: 1_000,
  objects: 300,
  changesPerSecond: 10,
  steadySeconds: 10,
  restSeconds: 10,
  loopObjects: 100,
  loopSeconds: 5,
  loopRounds: 2,
  toolAgents: 5,
  toolsPerAgent: 40,
};

interface Flags {
  readonly quick?: true;
  readonly only: readonly ControlPlanePartName[];
  readonly kubeconfig?: string;
  readonly out?: string;
  readonly rounds?: number;
  readonly objects?: number;
  readonly rate?: number;
  readonly steadySeconds?: number;
}

export function registerControlPlane(program: Command): void {
  program
    .command('control-plane')
    .description(
      'own Kubernetes client against the stock one (a), REST facade against the raw API (b), time from apply to Ready and the cost of rest (c), status loop against a Go controller (d), lists of tools over REST (e)',
    )
    .option('--quick', 'a short run that shows that everything works; its figures mean little')
    .option('--only <parts>', 'which comparisons to run, e.g. a,d', partsOf(partNames), partNames)
    .option('--rounds <n>', `turns of each contender in (a) and (b) (${full.rounds})`, wholeNumber)
    .option('--objects <n>', `Agents that exist during (c) (${full.objects})`, wholeNumber)
    .option('--rate <n>', `changes a second in the steady part of (c) (${full.changesPerSecond})`, wholeNumber)
    .option('--steady-seconds <n>', `length of the steady part of (c) (${full.steadySeconds})`, wholeNumber)
    .option(
      '--kubeconfig <path>',
      'measure against this API server, with the resource definitions installed, instead of starting one ((a) and (d) only)',
    )
    .option('--out <path>', 'where the JSON goes (test/bench/results/control-plane-<time>.json)')
    .action(async (flags: Flags) => {
      const { runControlPlane } = await import('./run.ts');
      await runControlPlane({
        parts: flags.only,
        scale: scaleOf(flags),
        ...(flags.kubeconfig === undefined ? {} : { kubeconfig: flags.kubeconfig }),
        ...(flags.out === undefined ? {} : { out: flags.out }),
      });
    });
}

function scaleOf(flags: Flags): ControlPlaneScale {
  const base = flags.quick ? quick : full;
  return {
    ...base,
    rounds: flags.rounds ?? base.rounds,
    objects: flags.objects ?? base.objects,
    changesPerSecond: flags.rate ?? base.changesPerSecond,
    steadySeconds: flags.steadySeconds ?? base.steadySeconds,
  };
}
