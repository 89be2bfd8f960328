/** Compares (d) one loop (watch Agents, write a condition) on our library with the same loop in Go on controller-runtime. */
import type { Stored } from '../../../kube/index.ts';
import { ProcessSampler } from '../harness/process-sampler.ts';
import { interleave, paced } from '../harness/rounds.ts';
import { median, pairedRatio, percentile } from '../harness/stats.ts';
import { figure, megabytes, times, type Table } from '../harness/table.ts';
import { agentNames, benchAgent, type BenchAgent } from './agents.ts';
import { buildGoLoop, buildNodeLoop, startLoop, type LoopProgram } from './loop-programs.ts';
import type { ControlPlanePart, ControlPlaneContext } from './part.ts';
import { StatusWatch, type ChangeLatency } from './status-watch.ts';

/** Objects handled at once, as the operator does by default. */
const concurrency = 4;
const changesPerSecond = 20;
const timeoutMs = 600_000;

export interface LoopTurn {
  /** Time from the start of the process to its caches being full. */
  readonly startMs: number;
  /** Status writes a second while it works off every object after its start. */
  readonly catchUpPerSecond: number;
  /** Changes a second from spec to condition, 16 changes in flight. */
  readonly burstPerSecond: number;
  /** CPU of the loop for one change of the burst. */
  readonly cpuMsPerChange: number;
  /** Latency of single changes at a steady pace, from the answer to the apply until the condition was seen. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly rssMaxBytes: number;
  readonly rssLastBytes: number;
}

export type LoopsResult = Record<'node' | 'go', readonly LoopTurn[]>;

export const loops: ControlPlanePart<LoopsResult> = {
  title: '(d) status loop: own library on Node against controller-runtime 0.22 in Go',

  async run(context) {
    context.progress('(d) building the Go loop (the first time downloads and compiles its modules)');
    const go = await buildGoLoop();
    const node = await buildNodeLoop();
    const namespace = await context.cluster.createNamespace('loops');
    const names = agentNames('loop', context.scale.loopObjects);
    const watch = new StatusWatch({ client: context.cluster.agents, namespace, types: [go.condition, node.condition] });
    await watch.start();
    let version = 0;
    /** Each call makes one more generation of every object. */
    const next = (): readonly BenchAgent[] => {
      version += 1;
      return names.map((name) => benchAgent({ namespace, name, version }));
    };
    const rounds = context.scale.loopRounds;
    try {
      return await interleave({
        rounds,
        warmUps: 0, // Each turn is a fresh process.
        contenders: {
          go: () => takeTurn({ context, namespace, watch, program: go, next }),
          node: () => takeTurn({ context, namespace, watch, program: node, next }),
        },
        onTurn: ({ contender, round }) => context.progress(`(d) ${contender}, round ${round + 1} of ${rounds}`),
      });
    } finally {
      await watch.stop();
      await context.cluster.releaseNamespace(namespace);
    }
  },

  tables: (result) => [loopsTable(result)],
};

interface TurnOptions {
  readonly context: ControlPlaneContext;
  readonly namespace: string;
  readonly watch: StatusWatch;
  readonly program: LoopProgram;
  readonly next: () => readonly BenchAgent[];
}

async function takeTurn({ context, namespace, watch, program, next }: TurnOptions): Promise<LoopTurn> {
  const { cluster, scale } = context;
  const behind = await cluster.applyAll(next());

  const startedAt = performance.now();
  const loop = startLoop(program, { kubeconfig: cluster.kubeconfig, namespace, concurrency });
  const sampler = new ProcessSampler({ pid: loop.pid });
  try {
    await loop.until('ready', async () => loop.log().includes('ready'));
    const startMs = performance.now() - startedAt;
    const catchUpPerSecond = rate(await watch.allReached(behind, program.condition, timeoutMs));

    const cpuBefore = sampler.use()?.cpuMs ?? Number.NaN;
    const burstAt = performance.now();
    const changed: readonly Stored<BenchAgent>[] = await cluster.applyAll(next());
    const lastAt = Math.max(...(await watch.allReached(changed, program.condition, timeoutMs)));
    const burstPerSecond = (changed.length * 1000) / (lastAt - burstAt);
    const cpuMsPerChange = ((sampler.use()?.cpuMs ?? Number.NaN) - cpuBefore) / changed.length;

    const latencies: ChangeLatency[] = [];
    let agents = next();
    await paced({
      perSecond: changesPerSecond,
      seconds: scale.loopSeconds,
      task: async (index) => {
        if (index > 0 && index % agents.length === 0) agents = next();
        const agent = agents[index % agents.length];
        if (agent !== undefined) latencies.push(await watch.change(agent, program.condition));
      },
    });
    const loopMs = latencies.map((latency) => latency.fromStoredMs);
    const use = sampler.use();
    return {
      startMs,
      catchUpPerSecond,
      burstPerSecond,
      cpuMsPerChange,
      p50Ms: percentile(loopMs, 50),
      p99Ms: percentile(loopMs, 99),
      rssMaxBytes: use?.rssMaxBytes ?? Number.NaN,
      rssLastBytes: use?.rssLastBytes ?? Number.NaN,
    };
  } finally {
    sampler.stop();
    await loop.stop();
  }
}

/** Returns the events a second from the first to the last of these times (ms). */
function rate(moments: readonly number[]): number {
  return ((moments.length - 1) * 1000) / (Math.max(...moments) - Math.min(...moments));
}

function ms(value: number): string {
  return figure(value, 'ms');
}

function loopsTable(result: LoopsResult): Table {
  const row = (title: string, of: (turn: LoopTurn) => number, show: (value: number) => string): readonly string[] => {
    const node = result.node.map(of);
    const go = result.go.map(of);
    return [title, show(median(node)), show(median(go)), times(pairedRatio(node, go))];
  };
  return {
    title: loops.title,
    columns: ['median of the rounds', 'own library (Node)', 'controller-runtime (Go)', 'Node / Go'],
    rows: [
      row('catching up after a start, status writes/s', (turn) => turn.catchUpPerSecond, figure),
      row('burst, changes/s', (turn) => turn.burstPerSecond, figure),
      row('burst, CPU of the loop per change', (turn) => turn.cpuMsPerChange, ms),
      row(`${changesPerSecond} changes/s, stored → condition seen, p50`, (turn) => turn.p50Ms, ms),
      row(`${changesPerSecond} changes/s, stored → condition seen, p99`, (turn) => turn.p99Ms, ms),
      row('process start → caches full', (turn) => turn.startMs, ms),
      row('RSS, highest', (turn) => turn.rssMaxBytes, megabytes),
      row('RSS, at the end', (turn) => turn.rssLastBytes, megabytes),
    ],
    notes: [
      `Both handle ${concurrency} objects at once, compare before they write, and are not throttled by their client.`,
      'In the burst the API server is shared by the changes and the status writes: changes/s says how far the loop holds it back, CPU per change what the loop itself costs.',
    ],
  };
}
