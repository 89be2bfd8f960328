import { machineFacts, watchMachine } from '../harness/machine.ts';
import { progress } from '../harness/progress.ts';
import { publishReport, type Report } from '../harness/report.ts';
import { watchSignals } from '../harness/signals.ts';
import type { Table } from '../harness/table.ts';
import { clients } from './clients.ts';
import { BenchCluster } from './cluster.ts';
import type { ControlPlanePartName } from './command.ts';
import { facade } from './facade.ts';
import { loops } from './loops.ts';
import { operator } from './operator.ts';
import type { ControlPlanePart, ControlPlaneContext, ControlPlaneScale } from './part.ts';
import { startStack } from './stack.ts';
import { toolLists } from './tool-lists.ts';

export interface ControlPlaneOptions {
  readonly parts: readonly ControlPlanePartName[];
  readonly scale: ControlPlaneScale;
  /** Path of the kubeconfig of a server to be used instead of one of our own. */
  readonly kubeconfig?: string;
  /** Path of the JSON. */
  readonly out?: string;
}

interface Outcome {
  readonly results: Record<string, unknown>;
  readonly failures: Record<string, string>;
  readonly tables: Table[];
}

/**
 * Runs the parts one after another, prints their tables and writes the JSON. A part that fails leaves the others alone.
 * @throws Error when the servers can't be started, any part failed, or a signal ended the run.
 */
export async function runControlPlane(options: ControlPlaneOptions): Promise<void> {
  const startedAt = new Date();
  const machine = await machineFacts();
  const disturbanceSoFar = await watchMachine();
  const outcome: Outcome = { results: {}, failures: {}, tables: [] };

  progress('starting the servers');
  const stack = await startStack({ env: process.env, ...(options.kubeconfig === undefined ? {} : { kubeconfig: options.kubeconfig }) });
  const cluster = new BenchCluster(stack);
  const signals = watchSignals(() => stack.stop());
  try {
    const context: ControlPlaneContext = { cluster, stack, scale: options.scale, progress };
    for (const name of order.filter((part) => options.parts.includes(part))) await parts[name](context, outcome);
  } finally {
    signals.forget();
    await cluster.close();
    await stack.stop();
  }
  if (signals.interrupted()) throw new Error('interrupted: nothing was written');

  const report: Report = {
    benchmark: 'control-plane',
    startedAt: startedAt.toISOString(),
    durationSeconds: (Date.now() - startedAt.getTime()) / 1000,
    machine,
    disturbance: await disturbanceSoFar(),
    scale: options.scale,
    results: outcome.results,
    failures: outcome.failures,
  };
  await publishReport(report, outcome.tables, options.out);
}

/** (c) comes last: it leaves a full server behind. */
const order: readonly ControlPlanePartName[] = ['a', 'b', 'e', 'd', 'c'];

const parts: Readonly<Record<ControlPlanePartName, (context: ControlPlaneContext, outcome: Outcome) => Promise<void>>> = {
  a: runner('a', clients),
  b: runner('b', facade),
  c: runner('c', operator),
  d: runner('d', loops),
  e: runner('e', toolLists),
};

function runner<R>(name: ControlPlanePartName, part: ControlPlanePart<R>) {
  return async (context: ControlPlaneContext, outcome: Outcome): Promise<void> => {
    context.progress(part.title);
    try {
      const result = await part.run(context);
      outcome.results[name] = result;
      outcome.tables.push(...part.tables(result));
    } catch (error) {
      outcome.failures[name] = `(${name}) ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
      context.progress(`(${name}) failed: ${String(error)}`);
    }
  };
}
