import { sha256 } from '../../platform/canonical-json.ts';
import { compare, type ClusterSnapshot } from './cluster-snapshot.ts';
import type { Reference } from './references-of.ts';

/** By name of the Secret: a digest of its uid and resourceVersion, `null` while it is missing. */
export function secretVersions(
  namespace: string,
  references: readonly Reference[],
  snapshot: ClusterSnapshot,
): Record<string, string | null> {
  const names = new Set(references.filter((reference) => reference.kind === 'Secret').map((reference) => reference.name));
  return Object.fromEntries(
    [...names].sort(compare).map((name) => {
      const found = snapshot.secret(namespace, name);
      return [name, found.state === 'present' ? sha256(`${found.uid}/${found.resourceVersion}`) : null];
    }),
  );
}
