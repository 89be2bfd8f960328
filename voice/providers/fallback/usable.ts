/**
 * Finds the providers of a part that can be used in a call: those that are ready little later than the first of them, which is waited for.
 */
import type { ProviderPart } from '../../../calls/provider-access/index.ts';
import { withTimeout, type Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/logging.ts';

/**
 * Longest delay after the first, in milliseconds: the call waits for it. A busy machine or API server makes all of them late, and costs
 * none its place.
 */
const READY_MS = 1_000;

/** Returns the usable providers. @throws what the first one fails with where none can be used */
export async function usable<P>(
  preparing: readonly Promise<P>[],
  { part, clock, logger }: { readonly part: ProviderPart; readonly clock: Clock; readonly logger: Logger },
): Promise<readonly P[]> {
  const [first] = preparing;
  if (first !== undefined && preparing.length === 1) return [await first];
  /** Results by place: undefined for a provider that can't be used. */
  const settled = new Map<number, P | undefined>();
  const settling = preparing.map((each, index) =>
    each.then(
      (provider) => void settled.set(index, provider),
      (err: unknown) => {
        settled.set(index, undefined);
        logger.warn({ part, fallback: index, err }, 'a provider cannot be used in this call; going on with the others');
      },
    ),
  );
  await Promise.any(preparing).catch(() => first);
  await withTimeout(clock, READY_MS, Promise.all(settling));
  return preparing.flatMap((_, index) => {
    if (!settled.has(index))
      logger.warn({ part, fallback: index, afterMs: READY_MS }, 'a provider is not ready for this call; going on with the others');
    return settled.get(index) ?? [];
  });
}
