/** Sorts failures of providers: which are tried again, and what stands behind an error. */
import { PART_NAMES, ProviderError, type ProviderErrorKind, type ProviderPart } from '../../calls/provider-access/index.ts';
import type { RetryOptions } from '../../platform/retry.ts';

const TRANSIENT: ReadonlySet<ProviderErrorKind> = new Set(['connection_lost', 'runtime', 'unreachable', 'payload']);

/** Returns whether the next attempt may well not meet the failure again. */
export const isTransient = ({ kind, slow }: ProviderError): boolean => !slow && TRANSIENT.has(kind);

/** Returns the wait after a transient failure; none after another one. @param delayMs wait by the number of failures, this one included */
export const afterTransient =
  (delayMs: (failures: number) => number | undefined): RetryOptions['delayMs'] =>
  (error, failures) =>
    error instanceof ProviderError && isTransient(error) ? delayMs(failures) : undefined;

/** Returns the failure without the message of a client library: those quote prompts and answers. */
export function providerFailureOf(error: unknown, part: ProviderPart): ProviderError {
  for (let at = error; typeof at === 'object' && at !== null; at = 'cause' in at ? at.cause : undefined)
    if (at instanceof ProviderError) return at;
  const name = error instanceof Error ? error.name : typeof error;
  return new ProviderError({ part, kind: 'runtime', provider: 'unknown', message: `the ${PART_NAMES[part]} failed (${name})` });
}
