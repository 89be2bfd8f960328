import { Counter, Histogram, type Registry } from 'prom-client';

export interface HttpMetrics {
  observe(request: {
    readonly route: string;
    readonly method: string;
    readonly status: number;
    /** Absent for a request without a duration to speak of: it lasts as long as what it follows. */ readonly seconds?: number | undefined;
  }): void;
}

/** Makes the metrics of requests. `route` is a pattern, never an address, so that the number of series stays small. */
export function httpMetrics(registry: Registry): HttpMetrics {
  const labelNames = ['route', 'method', 'status'] as const;
  const registers = [registry];
  const total = new Counter({ name: 'http_requests_total', help: 'Requests answered.', labelNames, registers });
  const duration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the first byte of a request to the last of its answer.',
    labelNames: ['route', 'method'],
    // Each bucket, and each further label, adds a line for each of dozens of routes.
    buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers,
  });
  return {
    observe({ route, method, status, seconds }) {
      total.inc({ route, method, status: String(status) });
      if (seconds !== undefined) duration.observe({ route, method }, seconds);
    },
  };
}
