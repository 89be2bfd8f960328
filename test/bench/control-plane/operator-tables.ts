import { duration, figure, megabytes, type Table } from '../harness/table.ts';
import type { OperatorResult } from './operator.ts';
import type { RoleCost } from './role-watch.ts';
import type { WriteCounts } from './write-counts.ts';

export function operatorTables(result: OperatorResult): readonly Table[] {
  return [latencyTable(result), costTable(result)];
}

function latencyTable({ bursts, steady }: OperatorResult): Table {
  const rows = [
    ...bursts.map((burst) => ({ title: `${burst.size} new at once`, ...burst })),
    { title: `${steady.perSecond} changes/s, ${figure(steady.objects)} Agents present`, ...steady },
  ];
  return {
    title: '(c) from apply to Ready',
    columns: ['', 'changes', 'sent → Ready p50', 'p99', 'stored → Ready p50', 'p99'],
    rows: rows.map(({ title, fromSent, fromStored }) => [
      title,
      figure(fromSent.count),
      duration(fromSent.p50),
      duration(fromSent.p99),
      duration(fromStored.p50),
      duration(fromStored.p99),
    ]),
    notes: [
      'From sending the apply, and from the answer to it, until a watch shows Ready=True for the new generation.',
      'A new Agent takes a finalizer, a revision in Postgres, a status and an event; a change takes a revision and a status.',
      'All of those at once wait for one API server on the same machine: sent → Ready includes their turn in its queue.',
    ],
  };
}

function costTable({ fill, restart, steady, rest }: OperatorResult): Table {
  return {
    title: `(c) what the operator costs with ${figure(restart.objects)} Agents`,
    columns: [
      '',
      'heap',
      'RSS',
      'event loop p99',
      'longest',
      'CPU of a core',
      'status writes',
      'finalizers',
      'events',
      'Secrets, ConfigMaps',
    ],
    rows: [
      ['after a restart', ...costs(restart.cost), ...writes(restart.writes)],
      [`${steady.perSecond} changes/s (${figure(steady.changes)})`, ...costs(steady.cost), ...writes(steady.writes)],
      [`at rest, ${rest.seconds} s`, ...costs(rest.cost), ...writes(rest.writes)],
    ],
    notes: [
      `${figure(fill.objects)} new Agents became Ready at ${figure(fill.perSecond)} a second; writes for each: finalizers ${figure(fill.writes.finalizers / fill.objects)}, ` +
        `status ${figure(fill.writes.status / fill.objects)}, events ${figure(fill.writes.events / fill.objects)}.`,
      `A new process had its caches full after ${duration(restart.cachesFullMs)} and had looked at every Agent after ${duration(restart.settledMs)}.`,
      `With ${steady.perSecond} changes/s: in the queue p99 ${atMost(steady.queueP99AtMost)}, one reconcile p99 ${atMost(steady.reconcileP99AtMost)} (bounds of histogram buckets); ` +
        `${figure(steady.writes.status / steady.changes)} status writes per change.`,
      'Writes are counted by the API server. Lease renewals are not shown: one every few seconds, whatever goes on.',
      'Event-loop delays are as Node reports them: its sampling interval of 10 ms is part of them.',
    ],
  };
}

function atMost(seconds: number | undefined): string {
  return seconds === undefined ? '–' : `≤ ${duration(seconds * 1000)}`;
}

function costs(cost: RoleCost): readonly string[] {
  return [
    `${megabytes(cost.heapMinBytes)} to ${megabytes(cost.heapMaxBytes)}`,
    megabytes(cost.rssMaxBytes),
    figure(cost.loopP99Ms, 'ms'),
    figure(cost.loopMaxMs, 'ms'),
    cost.cpuMs === undefined ? '–' : figure((cost.cpuMs / 1000 / cost.seconds) * 100, '%'),
  ];
}

function writes(counts: WriteCounts): readonly string[] {
  return [counts.status, counts.finalizers, counts.events, counts.secretsAndConfigMaps].map((count) => figure(count));
}
