/**
 * Spans, as the roles make them. The process has one tracer or none, as it has one clock: where none was opened every function here does
 * next to nothing, and nothing of OpenTelemetry is in memory.
 */
import { readTraceparent, traceContextOf, type SpanReference, type TraceContext } from './trace-context.ts';

export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SpanStart {
  /** Of few values: what differs from one to the next belongs into attributes. */
  readonly name: string;
  /** Default `internal`. */
  readonly kind?: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  /** The span that is current where left out; `'none'` begins a trace. */
  readonly parent?: TraceContext | 'none' | undefined;
  /** When it began, in milliseconds since the epoch; now where left out. */
  readonly startedAt?: number | undefined;
  /** What else led to it. */
  readonly links?: readonly TraceContext[];
  /** Names and numbers: never a prompt, a key or an address with its query. */
  readonly attributes?: Attributes;
}

export interface Span {
  /** To be handed on; undefined where nothing is traced. */
  readonly context: TraceContext | undefined;
  /** For logs; undefined where nothing is traced. */
  readonly reference: SpanReference | undefined;
  set(attributes: Attributes): void;
  /** It has failed: an error, or a word for what went wrong. */
  fail(error: unknown): void;
  /** Once; what is said afterwards is lost. */
  end(): void;
  /** Runs `work`, and everything that it starts, in the course of this span. */
  run<T>(work: () => T): T;
}

/** What {@link openTracing} gives the process. */
export interface Tracer {
  startSpan(start: SpanStart): Span;
  /** What is current here: a span, or what was continued. */
  current(): { readonly context: TraceContext; readonly reference: SpanReference } | undefined;
  /** Runs `work` as if in the course of that span, wherever it is. */
  continue<T>(context: TraceContext, work: () => T): T;
  /** Runs `work` outside of any span. */
  outside<T>(work: () => T): T;
  /** Sends what is left, for as long as it may. */
  close(): Promise<void>;
}

const noSpan: Span = {
  context: undefined,
  reference: undefined,
  set: () => undefined,
  fail: () => undefined,
  end: () => undefined,
  run: (work) => work(),
};

let tracer: Tracer | undefined;

/** For {@link openTracing}. */
export function setTracer(wanted: Tracer | undefined): void {
  tracer = wanted;
}

/** Whether it is worth the while to gather what only traces need. */
export function isTracing(): boolean {
  return tracer !== undefined;
}

/** A span that is ended by hand. */
export function startSpan(start: SpanStart): Span {
  return tracer === undefined ? noSpan : tracer.startSpan(start);
}

/** Runs `work` in a span, which fails as it does and ends with it. */
export async function inSpan<T>(start: SpanStart, work: (span: Span) => Promise<T>): Promise<T> {
  if (tracer === undefined) return work(noSpan);
  const span = tracer.startSpan(start);
  try {
    return await span.run(() => work(span));
  } catch (error) {
    span.fail(error);
    throw error;
  } finally {
    span.end();
  }
}

/** Runs `work` in the course of what was handed on; as it is, where nothing was. */
export function continueTrace<T>(context: TraceContext | undefined, work: () => T): T {
  return tracer === undefined || context === undefined ? work() : tracer.continue(context, work);
}

/** Starts work that outlives its caller: none of it belongs to the trace that is current here. */
export function outsideOfTraces<T>(work: () => T): T {
  return tracer === undefined ? work() : tracer.outside(work);
}

/** What is to be handed on from here; undefined outside of any trace. */
export function currentTrace(): TraceContext | undefined {
  return tracer?.current()?.context;
}

/** The same, where it is to be written down for later: undefined for a trace that is not sampled. */
export function currentSampledTrace(): TraceContext | undefined {
  const current = tracer?.current();
  return current?.reference.sampled === true ? current.context : undefined;
}

/**
 * What is to be handed on about something that has a trace of its own, such as a call: from here, if this is in the course of it, else from where
 * it began.
 */
export function traceFor(own: string | null | undefined): TraceContext | undefined {
  if (tracer === undefined) return undefined;
  const current = currentTrace();
  const began = readTraceparent(own);
  if (began === undefined || began.traceId === readTraceparent(current?.traceparent)?.traceId) return current;
  return traceContextOf(own);
}

/** For log lines. */
export function currentSpan(): SpanReference | undefined {
  return tracer?.current()?.reference;
}
