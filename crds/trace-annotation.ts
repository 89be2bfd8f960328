/**
 * Carries a trace from the request that writes a spec to the reconcile that acts on it, in an annotation that is written only when the
 * spec changes, so that a request which changes nothing writes nothing. It names the generation that the write made: a client that changes
 * the spec later in another way leaves it behind, and it means nothing any more.
 */
import { readTraceparent, type TraceContext } from '../platform/telemetry/trace-context.ts';
import { wellKnown } from './index.ts';

interface Annotated {
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly generation?: number | undefined;
}

/** @returns what to add to the annotations of an object whose spec becomes `generation` */
export function traceAnnotation(trace: TraceContext | undefined, generation: number): Readonly<Record<string, string>> {
  return trace === undefined ? {} : { [wellKnown.trace]: JSON.stringify({ generation, traceparent: trace.traceparent }) };
}

/** Returns the trace in which the present spec was written, where the annotation names one. */
export function traceOf({ annotations, generation }: Annotated): TraceContext | undefined {
  const text = annotations?.[wellKnown.trace];
  if (text === undefined) return undefined;
  try {
    const written = JSON.parse(text) as { readonly generation?: unknown; readonly traceparent?: unknown } | null;
    if (written?.generation !== generation || readTraceparent(written?.traceparent) === undefined) return undefined;
    return { traceparent: String(written?.traceparent) };
  } catch {
    // Another client wrote the annotation.
    return undefined;
  }
}
