import { canonicalJson, sha256 } from '../../platform/canonical-json.ts';
import { compare, type ClusterSnapshot } from './cluster-snapshot.ts';
import type { Reference } from './references-of.ts';

/** Returns, by name of the Secret, a digest of the values of the keys that are referred to, `null` while it is missing. */
export function secretVersions(
  namespace: string,
  references: readonly Reference[],
  snapshot: ClusterSnapshot,
): Record<string, string | null> {
  const byName = Map.groupBy(
    references.filter(({ kind }) => kind === 'Secret'),
    ({ name }) => name,
  );
  return Object.fromEntries(
    [...byName.keys()].sort(compare).map((name) => {
      const found = snapshot.secret(namespace, name);
      if (found.state !== 'present') return [name, null];
      const keys = new Set(byName.get(name)!.map(({ key = '' }) => key));
      return [name, sha256(canonicalJson(Object.fromEntries([...keys].map((key) => [key, found.digests?.get(key) ?? null]))))];
    }),
  );
}
