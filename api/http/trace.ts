import { randomBytes } from 'node:crypto';

/** `00-<trace>-<span>-<flags>`. Source: W3C Trace Context, section 3.2. */
const traceparent = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;

/** The trace that a request belongs to: its caller's, where it names a sound one, otherwise a new one (32 hexadecimal digits). */
export function traceIdOf(header: string | readonly string[] | undefined): string {
  const match = typeof header === 'string' ? traceparent.exec(header) : null;
  const [, version, trace, span, rest] = match ?? [];
  const sound =
    trace !== undefined && version !== 'ff' && !/^0+$/.test(trace) && !/^0+$/.test(span ?? '') && (version !== '00' || rest === undefined);
  return sound ? trace : randomBytes(16).toString('hex');
}
