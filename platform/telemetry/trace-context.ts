/** Propagates traces between processes: W3C Trace Context. */

/** The context that is passed on: to another process, or stored with an object or a row for the process that handles it later. */
export interface TraceContext {
  /** `00-<32 hexadecimal digits>-<16>-<flags>`. Source: W3C Trace Context, section 3.2. */
  readonly traceparent: string;
  /** Data of other vendors' tracers; passed on unchanged. */
  readonly tracestate?: string | undefined;
}

/** The parts of a `traceparent`. */
export interface SpanReference {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly sampled: boolean;
}

/** Longest `tracestate` that is passed on, in characters; a longer one is dropped. Source: section 3.3.1.5. */
const LONGEST_STATE = 512;
const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** @returns undefined for an invalid `traceparent`: a new trace starts then, as the standard demands */
export function readTraceparent(text: unknown): SpanReference | undefined {
  const match = typeof text === 'string' ? FORM.exec(text) : null;
  const [, version, traceId, spanId, flags, rest] = match ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined || version === 'ff') return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId) || (version === '00' && rest !== undefined)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function writeTraceparent({ traceId, spanId, sampled }: SpanReference): string {
  return `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
}

/** Reads a context from headers, an annotation or a column. @returns undefined for a missing or invalid one */
export function traceContextOf(traceparent: unknown, tracestate?: unknown): TraceContext | undefined {
  const reference = readTraceparent(traceparent);
  if (reference === undefined) return undefined;
  const state = typeof tracestate === 'string' && tracestate !== '' && tracestate.length <= LONGEST_STATE ? tracestate : undefined;
  return { traceparent: writeTraceparent(reference), ...(state !== undefined && { tracestate: state }) };
}
