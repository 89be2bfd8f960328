/**
 * Records spans for the roles. A process has at most one tracer: without one every function here is nearly a no-op, and OpenTelemetry is
 * not loaded.
 */
import { readTraceparent, traceContextOf, type SpanReference, type TraceContext } from './trace-context.ts';

export type Attributes = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

export interface SpanStart {
  /** Name of low cardinality: details belong into attributes. */
  readonly name: string;
  /** Kind of the span; default `internal`. */
  readonly kind?: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  /** Parent of the span; default the current one; `'none'` starts a trace. */
  readonly parent?: TraceContext | 'none' | undefined;
  /** Start time, in milliseconds since the epoch; default now. */
  readonly startedAt?: number | undefined;
  /** Other spans that led to this one. */
  readonly links?: readonly TraceContext[];
  /** Attributes are names and numbers: never a key or an address with its query; content only where {@link capturesContent}. */
  readonly attributes?: Attributes;
}

export interface Span {
  /** Context to pass on; undefined without a tracer. */
  readonly context: TraceContext | undefined;
  /** Reference for logs; undefined without a tracer. */
  readonly reference: SpanReference | undefined;
  set(attributes: Attributes): void;
  /** Marks the span as failed: by an error, or a short reason. */
  fail(error: unknown): void;
  /** Ends the span once; later calls on it are ignored. @param at milliseconds since the epoch; default now */
  end(at?: number): void;
  /** Runs `work`, and everything that it starts, within this span. */
  run<T>(work: () => T): T;
}

export interface Tracer {
  /** Set if spans may have content: messages, and arguments and results of tools. */
  readonly capturesContent: boolean;
  startSpan(start: SpanStart): Span;
  current(): { readonly context: TraceContext; readonly reference: SpanReference } | undefined;
  /** Runs `work` within a span that may be remote. */
  continue<T>(context: TraceContext, work: () => T): T;
  outside<T>(work: () => T): T;
  /** Sends the remaining spans, up to its timeout. */
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

/** Sets the tracer of the process; only {@link openTracing} calls this. */
export function setTracer(wanted: Tracer | undefined): void {
  tracer = wanted;
}

/** Tells whether a tracer is open: else skip work that only traces need. */
export function isTracing(): boolean {
  return tracer !== undefined;
}

/** Tells whether content is put on spans: messages, and arguments and results of tools. */
export function capturesContent(): boolean {
  return tracer?.capturesContent === true;
}

/** Starts a span that the caller ends. */
export function startSpan(start: SpanStart): Span {
  return tracer === undefined ? noSpan : tracer.startSpan(start);
}

/** Runs `work` in a span that ends with it, failed if it throws. */
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

/** Runs `work` within the received context; without one just runs it. */
export function continueTrace<T>(context: TraceContext | undefined, work: () => T): T {
  return tracer === undefined || context === undefined ? work() : tracer.continue(context, work);
}

/** Starts work that outlives its caller: none of it belongs to the trace that is current here. */
export function outsideOfTraces<T>(work: () => T): T {
  return tracer === undefined ? work() : tracer.outside(work);
}

/** Returns the context to pass on; undefined outside of any trace. */
export function currentTrace(): TraceContext | undefined {
  return tracer?.current()?.context;
}

/** Returns the context to store for later; undefined for a trace that is not sampled. */
export function currentSampledTrace(): TraceContext | undefined {
  const current = tracer?.current();
  return current?.reference.sampled === true ? current.context : undefined;
}

/**
 * Returns the context to pass on for something with a trace of its own, such as a call: the current one, if it belongs to that trace, else
 * the one where it started.
 */
export function traceFor(own: string | null | undefined): TraceContext | undefined {
  if (tracer === undefined) return undefined;
  const current = currentTrace();
  const began = readTraceparent(own);
  if (began === undefined || began.traceId === readTraceparent(current?.traceparent)?.traceId) return current;
  return traceContextOf(own);
}

/** Returns the current span, for log lines. */
export function currentSpan(): SpanReference | undefined {
  return tracer?.current()?.reference;
}
