/** Measures (c) the time from `apply` to Ready with the real operator, the cost of changes among many Agents, and that of rest. */
import { quantileAtMost } from '../harness/prometheus.ts';
import { paced } from '../harness/rounds.ts';
import { summarize, type Distribution } from '../harness/stats.ts';
import { agentNames, benchAgent } from './agents.ts';
import { operatorTables } from './operator-tables.ts';
import type { ControlPlanePart, ControlPlaneContext, ControlPlaneScale } from './part.ts';
import { RoleWatch, type RoleCost } from './role-watch.ts';
import type { BenchRole } from '../harness/role.ts';
import { RoleHost } from './roles.ts';
import { StatusWatch, type ChangeLatency } from './status-watch.ts';
import { countWrites, type WriteCounts } from './write-counts.ts';

const ready = 'Ready';
const settleMs = 5_000;
const fillTimeoutMs = 3_600_000;

interface Latencies {
  readonly fromSent: Distribution;
  readonly fromStored: Distribution;
}

export interface OperatorResult {
  /** New Agents applied together, several times over. */
  readonly bursts: readonly (Latencies & { readonly size: number })[];
  readonly fill: { readonly objects: number; readonly perSecond: number; readonly writes: WriteCounts };
  /** A new process starts with everything there already. */
  readonly restart: {
    readonly objects: number;
    readonly cachesFullMs: number;
    readonly settledMs: number;
    readonly cost: RoleCost;
    readonly writes: WriteCounts;
  };
  readonly steady: Latencies & {
    readonly objects: number;
    readonly changes: number;
    readonly perSecond: number;
    /** Bounds of histogram buckets, in seconds. */
    readonly queueP99AtMost: number | undefined;
    readonly reconcileP99AtMost: number | undefined;
    readonly cost: RoleCost;
    readonly writes: WriteCounts;
  };
  readonly rest: { readonly seconds: number; readonly cost: RoleCost; readonly writes: WriteCounts };
}

interface Bench extends Pick<ControlPlaneContext, 'cluster' | 'scale' | 'progress'> {
  readonly namespace: string;
  readonly watch: StatusWatch;
}

export const operator: ControlPlanePart<OperatorResult> = {
  title: '(c) from apply to Ready',

  async run(context) {
    const { cluster, scale, progress } = context;
    const host = await RoleHost.open(context);
    const namespace = await cluster.createNamespace('operator');
    const watch = new StatusWatch({ client: cluster.agents, namespace, types: [ready] });
    let role: BenchRole | undefined;
    try {
      await host.addOrganization(namespace);
      await watch.start();
      const bench: Bench = { cluster, scale, progress, namespace, watch };
      role = await host.start('operator');

      const bursts = await measureBursts(bench);
      const names = agentNames('steady', scale.objects);
      const fill = await measureFill(bench, names);

      progress('(c) a new operator process');
      await role.stop();
      const restart = await measureRestart(bench, async () => (role = await host.start('operator')));

      const steady = await measureSteady(bench, role, names);
      const rest = await measureRest(bench, role);
      return { bursts, fill, restart, steady, rest };
    } finally {
      await watch.stop();
      // Its finalizers can only go while the operator runs.
      await cluster.releaseNamespace(namespace);
      await cluster.namespaceGone(namespace);
      await role?.stop();
      await host.close();
    }
  },

  tables: operatorTables,
};

async function measureBursts({ namespace, watch, scale, progress }: Bench): Promise<OperatorResult['bursts']> {
  const bursts = [];
  for (const { size, times } of burstPlan(scale)) {
    progress(`(c) ${times} times ${size} new Agent${size === 1 ? '' : 's'} at once`);
    const latencies: ChangeLatency[] = [];
    for (let turn = 0; turn < times; turn += 1) {
      const names = agentNames(`burst-${size}-${turn}`, size);
      latencies.push(...(await Promise.all(names.map((name) => watch.change(benchAgent({ namespace, name }), ready)))));
      await pause(200);
    }
    bursts.push({ size, ...summaries(latencies) });
  }
  return bursts;
}

function burstPlan(scale: ControlPlaneScale): readonly { readonly size: number; readonly times: number }[] {
  const { rounds } = scale;
  return [
    { size: 1, times: rounds * 10 },
    { size: 10, times: rounds * 4 },
    { size: 100, times: rounds },
  ];
}

async function measureFill({ cluster, namespace, watch, progress }: Bench, names: readonly string[]): Promise<OperatorResult['fill']> {
  progress(`(c) ${names.length} Agents`);
  const before = await cluster.serverMetrics();
  const startedAt = performance.now();
  const report = (done: number): void => {
    if (done % 1_000 === 0) progress(`(c) ${done} of ${names.length} applied`);
  };
  const stored = await cluster.applyAll(
    names.map((name) => benchAgent({ namespace, name })),
    report,
  );
  const lastAt = Math.max(...(await watch.allReached(stored, ready, fillTimeoutMs)));
  return {
    objects: names.length,
    perSecond: (names.length * 1000) / (lastAt - startedAt),
    writes: countWrites(await cluster.serverMetrics(), before),
  };
}

async function measureRestart({ cluster, scale }: Bench, start: () => Promise<BenchRole>): Promise<OperatorResult['restart']> {
  const before = await cluster.serverMetrics();
  const startedAt = performance.now();
  const role = await start();
  const cachesFullMs = performance.now() - startedAt;
  const watched = RoleWatch.sinceStart(role, startedAt);
  const settledMs = (await settled(watched, scale.objects)) - startedAt;
  const cost = await watched.stop();
  return { objects: scale.objects, cachesFullMs, settledMs, cost, writes: countWrites(await cluster.serverMetrics(), before) };
}

/** Returns when every Agent had been looked at and nothing was left to do. */
async function settled(watched: RoleWatch, objects: number): Promise<number> {
  const controller = { controller: 'agent' };
  for (;;) {
    const metrics = await watched.sample();
    const done = metrics.sum('controller_runtime_reconcile_total', controller) ?? 0;
    const waiting =
      (metrics.sum('workqueue_depth', { name: 'agent' }) ?? 0) + (metrics.sum('controller_runtime_active_workers', controller) ?? 0);
    if (done >= objects && waiting === 0) return performance.now();
    await pause(100);
  }
}

async function measureSteady(
  { cluster, scale, namespace, watch, progress }: Bench,
  role: BenchRole,
  names: readonly string[],
): Promise<OperatorResult['steady']> {
  const { changesPerSecond, steadySeconds } = scale;
  progress(`(c) ${changesPerSecond} changes a second for ${steadySeconds} s, ${names.length} Agents present`);
  const serverBefore = await cluster.serverMetrics();
  const watched = await RoleWatch.start(role);
  const before = await watched.sample();
  const latencies: ChangeLatency[] = [];
  await paced({
    perSecond: changesPerSecond,
    seconds: steadySeconds,
    task: async (index) => {
      // Goes all over the place: each Agent comes again only after all the others.
      const name = names[(index * 7_919) % names.length] ?? '';
      latencies.push(await watch.change(benchAgent({ namespace, name, version: index + 1 }), ready));
    },
  });
  await pause(settleMs);
  const after = await watched.sample();
  return {
    ...summaries(latencies),
    objects: names.length,
    changes: latencies.length,
    perSecond: changesPerSecond,
    queueP99AtMost: quantileAtMost(0.99, 'workqueue_queue_duration_seconds', { name: 'agent' }, after, before),
    reconcileP99AtMost: quantileAtMost(0.99, 'controller_runtime_reconcile_time_seconds', { controller: 'agent' }, after, before),
    cost: await watched.stop(),
    writes: countWrites(await cluster.serverMetrics(), serverBefore),
  };
}

async function measureRest({ cluster, scale, progress }: Bench, role: BenchRole): Promise<OperatorResult['rest']> {
  progress(`(c) at rest for ${scale.restSeconds} s`);
  const before = await cluster.serverMetrics();
  const watched = await RoleWatch.start(role);
  await pause(scale.restSeconds * 1000);
  return { seconds: scale.restSeconds, cost: await watched.stop(), writes: countWrites(await cluster.serverMetrics(), before) };
}

function summaries(latencies: readonly ChangeLatency[]): Latencies {
  return {
    fromSent: summarize(latencies.map((latency) => latency.fromSentMs)),
    fromStored: summarize(latencies.map((latency) => latency.fromStoredMs)),
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
