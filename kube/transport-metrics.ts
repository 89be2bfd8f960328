import { Counter, Histogram, type Registry } from 'prom-client';

/** client-go's metrics of the same names, so that existing dashboards work. */
export interface TransportMetrics {
  /** `code` is the HTTP status, or `<error>` when no answer came. */
  observe(request: { readonly method: string; readonly code: string; readonly host: string; readonly seconds: number }): void;
}

/** Several transports of one process share the metrics of one registry. */
export function transportMetrics(registry: Registry | undefined): TransportMetrics {
  if (registry === undefined) return { observe: () => undefined };
  const requests =
    (registry.getSingleMetric('rest_client_requests_total') as Counter<'code' | 'method' | 'host'> | undefined) ??
    new Counter({
      name: 'rest_client_requests_total',
      help: 'Requests to the API server, by status code, method and host.',
      labelNames: ['code', 'method', 'host'],
      registers: [registry],
    });
  const durations =
    (registry.getSingleMetric('rest_client_request_duration_seconds') as Histogram<'verb' | 'host'> | undefined) ??
    new Histogram({
      name: 'rest_client_request_duration_seconds',
      help: 'Time until the answer of the API server, in seconds, by verb and host.',
      labelNames: ['verb', 'host'],
      buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
      registers: [registry],
    });
  return {
    observe({ method, code, host, seconds }) {
      requests.inc({ code, method, host });
      durations.observe({ verb: method, host }, seconds);
    },
  };
}
