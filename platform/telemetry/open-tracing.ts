/** Decides whether a process traces, and opens its tracer. */
import type { TracerOptions } from './otel-tracer.ts';
import { setTracer } from './tracing.ts';

export interface Tracing {
  /** Sends the remaining spans, for some seconds at most, and records no more. */
  close(): Promise<void>;
}

export function wantsTraces(env: Readonly<Record<string, string | undefined>>): boolean {
  const isTrue = (name: string): boolean => env[name]?.trim().toLowerCase() === 'true';
  if (isTrue('OTEL_SDK_DISABLED') || env['OTEL_TRACES_EXPORTER']?.trim() === 'none') return false;
  return ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'].some((name) => (env[name] ?? '').trim() !== '');
}

/**
 * Traces only where an address is set; otherwise nothing is loaded. All other settings are OpenTelemetry's own variables (`OTEL_*`), which
 * its packages read from the environment of the process.
 */
export async function openTracing(options: TracerOptions): Promise<Tracing> {
  if (!wantsTraces(options.env)) return { close: async () => undefined };
  const { createTracer } = await import('./otel-tracer.ts');
  const tracer = createTracer(options);
  setTracer(tracer);
  return {
    async close() {
      setTracer(undefined);
      await tracer.close();
    },
  };
}
