/** The operator's metrics: under controller-runtime's names where it has them, so that existing dashboards and alerts work. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

import type { Managed } from '../status/common.ts';
import { findCondition } from '../../crds/kind.ts';

interface MetricDefinition {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly help: string;
}

const operatorMetrics = {
  reconciles: {
    name: 'controller_runtime_reconcile_total',
    type: 'counter',
    labels: ['controller', 'result'],
    help: 'Reconciles by outcome: success, requeue_after or error.',
  },
  errors: {
    name: 'controller_runtime_reconcile_errors_total',
    type: 'counter',
    labels: ['controller'],
    help: 'Reconciles that failed and are tried again.',
  },
  duration: {
    name: 'controller_runtime_reconcile_time_seconds',
    type: 'histogram',
    labels: ['controller'],
    help: 'Duration of a reconcile, in seconds.',
  },
  active: { name: 'controller_runtime_active_workers', type: 'gauge', labels: ['controller'], help: 'Reconciles under way.' },
  limit: {
    name: 'controller_runtime_max_concurrent_reconciles',
    type: 'gauge',
    labels: ['controller'],
    help: 'Reconciles that may be under way at once.',
  },
  leader: {
    name: 'leader_election_master_status',
    type: 'gauge',
    labels: ['name'],
    help: '1 while this process leads, 0 while it stands by.',
  },
  timeToReady: {
    name: 'parley_time_to_ready_seconds',
    type: 'histogram',
    labels: ['kind'],
    help: 'From the moment a new or changed object was seen until its status said Ready=True, in seconds.',
  },
  statusWrites: {
    name: 'parley_status_writes_total',
    type: 'counter',
    labels: ['kind'],
    help: 'Statuses written to the API server. None at rest; one for each change of a spec.',
  },
  objects: {
    name: 'parley_objects',
    type: 'gauge',
    labels: ['kind', 'ready'],
    help: 'Objects by the status of their Ready condition: True, False, Unknown while suspended, or none yet.',
  },
} as const satisfies Record<string, MetricDefinition>;

const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const READY_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 900];

export interface OperatorMetrics {
  readonly objects: Gauge;
  readonly countObjects: (kind: string, list: () => readonly Managed[]) => void;
  readonly reconciles: Counter;
  readonly errors: Counter;
  readonly duration: Histogram;
  readonly active: Gauge;
  readonly limit: Gauge;
  readonly leader: Gauge;
  readonly timeToReady: Histogram;
  readonly statusWrites: Counter;
}

/** A suspended object has no `Ready`: nothing is known of it. */
function readyLabel(object: Managed): string {
  return findCondition(object, 'Ready')?.status ?? (findCondition(object, 'Suspended') === undefined ? '' : 'Unknown');
}

export function createMetrics(registry: Registry): OperatorMetrics {
  const listed = new Map<string, () => readonly Managed[]>();
  const options = ({ name, help, labels }: MetricDefinition) => ({ name, help, labelNames: [...labels], registers: [registry] });
  return {
    objects: new Gauge({
      ...options(operatorMetrics.objects),
      collect() {
        this.reset();
        for (const [kind, list] of listed) {
          for (const ready of ['True', 'False', 'Unknown', '']) this.set({ kind, ready }, 0);
          for (const object of list()) this.inc({ kind, ready: readyLabel(object) });
        }
      },
    }),
    countObjects: (kind, list) => void listed.set(kind, list),
    reconciles: new Counter(options(operatorMetrics.reconciles)),
    errors: new Counter(options(operatorMetrics.errors)),
    duration: new Histogram({ ...options(operatorMetrics.duration), buckets: DURATION_BUCKETS }),
    active: new Gauge(options(operatorMetrics.active)),
    limit: new Gauge(options(operatorMetrics.limit)),
    leader: new Gauge(options(operatorMetrics.leader)),
    timeToReady: new Histogram({ ...options(operatorMetrics.timeToReady), buckets: READY_BUCKETS }),
    statusWrites: new Counter(options(operatorMetrics.statusWrites)),
  };
}
