import { progress } from '../harness/progress.ts';
import { runParts, type PartResult } from '../harness/run-parts.ts';
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

/** @throws Error when the servers can't be started, any part failed, or a signal ended the run */
export async function runControlPlane({ parts: wanted, scale, kubeconfig, out }: ControlPlaneOptions): Promise<void> {
  progress('starting the servers');
  const stack = await startStack({ env: process.env, ...(kubeconfig === undefined ? {} : { kubeconfig }) });
  const cluster = new BenchCluster(stack);
  await runParts({
    benchmark: 'control-plane',
    parts: order.filter((part) => wanted.includes(part)),
    run: (name) => parts[name]({ cluster, stack, scale, progress }),
    stop: async () => {
      await cluster.close();
      await stack.stop();
    },
    scale,
    out,
  });
}

/** (c) comes last: it leaves a full server behind. */
const order: readonly ControlPlanePartName[] = ['a', 'b', 'e', 'd', 'c'];

const parts: Readonly<Record<ControlPlanePartName, (context: ControlPlaneContext) => Promise<PartResult>>> = {
  a: runner(clients),
  b: runner(facade),
  c: runner(operator),
  d: runner(loops),
  e: runner(toolLists),
};

function runner<R>(part: ControlPlanePart<R>) {
  return async (context: ControlPlaneContext): Promise<PartResult> => {
    context.progress(part.title);
    const figures = await part.run(context);
    return { figures, tables: part.tables(figures) };
  };
}
