/** Resolves the data of a call in text: the values of the test, and those that the agent looks up. */
import { lookupsToMake, resolveDynamicData, type DynamicDataCache, type ResolveOptions } from '../../voice/dynamic-data/resolve.ts';
import { DriverError } from '../driver.ts';

/** Stores nothing, so that each test asks for itself. */
const NO_CACHE: DynamicDataCache = { get: async () => undefined, put: async () => undefined };

/**
 * Skips a lookup whose values are all given: that is how a test replaces it.
 * @throws DriverError where a lookup would be made offline
 */
export async function dataOf({ offline, ...options }: Omit<ResolveOptions, 'cache'> & { readonly offline: boolean }) {
  const lookups = lookupsToMake(options);
  const [first] = lookups;
  if (offline && first !== undefined) {
    const names = (first.response ?? []).map(({ name }) => name).join(', ');
    throw new DriverError(
      `the agent looks up "${first.name}" before the call, and replayed tests make no requests: give ${names === '' ? 'its values' : names} in spec.dynamicData`,
      { path: 'spec.dynamicData' },
    );
  }
  return resolveDynamicData({ ...options, lookups, cache: NO_CACHE });
}
