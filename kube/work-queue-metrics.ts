import { Counter, Histogram, type Registry } from 'prom-client';

import { SampledGauge } from './sampled-gauge.ts';

export interface WorkQueueMetrics {
  added(): void;
  retried(): void;
  /** A key was handed out after waiting so long, in milliseconds. */
  taken(waitedMs: number): void;
  /** A key was finished after so long, in milliseconds. */
  finished(workedMs: number): void;
}

export interface WorkQueueMetricsOptions {
  readonly registry: Registry | undefined;
  readonly name: string;
  readonly depth: () => number;
  /** How long each key in the works has been there, in milliseconds. */
  readonly unfinished: () => readonly number[];
}

/** client-go's bounds: 10 ns to 1,000 s, a power of ten each. */
const buckets = Array.from({ length: 12 }, (_, power) => 10 ** (power - 8));

/** client-go's metrics under their own names, so that existing dashboards and alerts work. Queues share the metrics of one registry. */
export function workQueueMetrics(options: WorkQueueMetricsOptions): WorkQueueMetrics {
  const { registry, name } = options;
  if (registry === undefined)
    return { added: () => undefined, retried: () => undefined, taken: () => undefined, finished: () => undefined };
  const labels = { name };
  const counter = (metric: string, help: string): Counter<'name'> =>
    (registry.getSingleMetric(metric) as Counter<'name'> | undefined) ??
    new Counter({ name: metric, help, labelNames: ['name'], registers: [registry] });
  const histogram = (metric: string, help: string): Histogram<'name'> =>
    (registry.getSingleMetric(metric) as Histogram<'name'> | undefined) ??
    new Histogram({ name: metric, help, labelNames: ['name'], buckets, registers: [registry] });
  const sampled = (metric: string, help: string, value: () => number): void => {
    SampledGauge.of(registry, metric, help, ['name']).sample(() => ({ labels, value: value() }));
  };
  const adds = counter('workqueue_adds_total', 'Keys that were added to the queue.');
  const retries = counter('workqueue_retries_total', 'Keys that were added again after a failure.');
  const waits = histogram('workqueue_queue_duration_seconds', 'How long a key waits in the queue before it is handled, in seconds.');
  const works = histogram('workqueue_work_duration_seconds', 'How long the handling of a key takes, in seconds.');
  adds.inc(labels, 0);
  retries.inc(labels, 0);
  sampled('workqueue_depth', 'Keys that wait in the queue.', options.depth);
  sampled(
    'workqueue_unfinished_work_seconds',
    'How long all keys in the works have been there together, in seconds; a rising value is a stuck handler.',
    () => options.unfinished().reduce((sum, ms) => sum + ms / 1000, 0),
  );
  sampled('workqueue_longest_running_processor_seconds', 'How long the oldest key in the works has been there, in seconds.', () =>
    options.unfinished().reduce((longest, ms) => Math.max(longest, ms / 1000), 0),
  );
  return {
    added: () => adds.inc(labels),
    retried: () => retries.inc(labels),
    taken: (ms) => waits.observe(labels, ms / 1000),
    finished: (ms) => works.observe(labels, ms / 1000),
  };
}
