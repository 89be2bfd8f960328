import { Counter, type Registry } from 'prom-client';

import type { ReflectorObserver } from './reflector.ts';
import { SampledGauge } from './sampled-gauge.ts';

export interface InformerMetrics extends ReflectorObserver {
  /** Call it when the informer is gone: its gauges are no longer sampled. */
  stop(): void;
}

export interface InformerMetricsOptions {
  readonly registry: Registry | undefined;
  /** Labels of each series: the resource that is watched, e.g. `agents.parley.dev`, and where. */
  readonly resource: string;
  readonly namespace: string;
  readonly objects: () => number;
  /** Milliseconds since the API server last sent anything. */
  readonly lastContact: () => number;
}

/** Informers of one process share the metrics of one registry. Listings and watches carry the names client-go once gave them. */
export function informerMetrics(options: InformerMetricsOptions): InformerMetrics {
  const { registry, resource, namespace } = options;
  if (registry === undefined) return { listed: () => undefined, watchOver: () => undefined, stop: () => undefined };
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> =>
    (registry.getSingleMetric(name) as Counter<L> | undefined) ?? new Counter<L>({ name, help, labelNames, registers: [registry] });
  const labels = { resource, namespace };
  const lists = counter('reflector_lists_total', 'Listings, by how they were made and how they ended.', [
    'resource',
    'namespace',
    'mode',
    'outcome',
  ]);
  const watches = counter('reflector_watches_total', 'Watches that are over, by how they ended.', ['resource', 'namespace', 'outcome']);
  const samples = [
    SampledGauge.of(registry, 'informer_objects', 'Objects in the cache.', ['resource', 'namespace']).sample(() => ({
      labels,
      value: options.objects(),
    })),
    SampledGauge.of(registry, 'informer_last_contact_seconds', 'Time since the API server last sent anything, in seconds.', [
      'resource',
      'namespace',
    ]).sample(() => ({
      labels,
      value: options.lastContact() / 1000,
    })),
  ];
  return {
    listed: (mode, outcome) => lists.inc({ ...labels, mode, outcome }),
    watchOver: (outcome) => watches.inc({ ...labels, outcome }),
    stop: () => {
      for (const stop of samples) stop();
    },
  };
}
