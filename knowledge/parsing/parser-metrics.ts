import { Gauge, Histogram, type Registry } from 'prom-client';

const BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

export function parserMetrics(registry: Registry | undefined): {
  running(change: number): void;
  finished(extension: string, outcome: string, seconds: number): void;
} {
  if (registry === undefined) return { running: () => undefined, finished: () => undefined };
  const running = new Gauge({ name: 'parley_parsers_running', help: 'Files being read at the moment.', registers: [registry] });
  const seconds = new Histogram({
    name: 'parley_parse_seconds',
    help: 'Time from taking a child to its end; the outcome is completed, left, error or the code of the failure.',
    labelNames: ['extension', 'outcome'],
    buckets: BUCKETS,
    registers: [registry],
  });
  return {
    running: (change) => running.inc(change),
    finished: (extension, outcome, took) => seconds.observe({ extension, outcome }, took),
  };
}
