/** Which providers of a part can be used in a call: those that are ready soon. One alone, or the first to be ready of all, is waited for. */
import type { ProviderPart } from '../../calls/provider-access/index.ts';
import { withTimeout, type Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/logging.ts';

/** In milliseconds: the call waits for it. */
const READY_MS = 1_000;

/** @throws what the first one fails with where none can be used */
export async function usable<P>(
  preparing: readonly Promise<P>[],
  { part, clock, logger }: { readonly part: ProviderPart; readonly clock: Clock; readonly logger: Logger },
): Promise<readonly P[]> {
  const [first] = preparing;
  if (first !== undefined && preparing.length === 1) return [await first];
  const ready = new Map<number, P>();
  const outcomes = preparing.map((each, index) =>
    each.then(
      (provider) => void ready.set(index, provider),
      (err: unknown) => logger.warn({ part, fallback: index, err }, 'a provider cannot be used in this call; going on with the others'),
    ),
  );
  await withTimeout(clock, READY_MS, Promise.all(outcomes));
  if (ready.size === 0) await Promise.any(preparing).catch(() => first);
  return preparing.flatMap((_, index) => (ready.has(index) ? [ready.get(index)!] : []));
}
