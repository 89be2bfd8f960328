import { beforeAll, describe, expect, it } from 'vitest';

import { samples } from './samples.ts';
import { openCluster, schemaNodes, type StoredManifest } from './support.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';

/** Fields without fields of their own; one that is kept as it is (`x-kubernetes-preserve-unknown-fields`) counts as one. */
const leaves = schemaNodes().filter(
  ({ schema }) =>
    schema.items === undefined && schema.additionalProperties === undefined && Object.keys(schema.properties ?? {}).length === 0,
);

/** Returns all values of an object at a path like `Agent.spec.dynamicData[].url`. */
function valuesAt(manifest: StoredManifest, path: string): readonly unknown[] {
  const [kind, ...segments] = path.split(/(?=\[\]|\{\})|\./);
  if (manifest.kind !== kind) return [];
  let values: readonly unknown[] = [manifest];
  for (const segment of segments) {
    values = values.flatMap((value) => {
      if (segment === '[]') return value;
      if (segment === '{}')
        return Object.entries(value as Readonly<Record<string, unknown>>)
          .toSorted(([a], [b]) => (a < b ? -1 : 1))
          .map(([, child]) => child);
      const fields = value as Readonly<Record<string, unknown>>;
      return Object.hasOwn(fields, segment) ? [fields[segment]] : [];
    });
  }
  return values;
}

describe('every field of every kind comes back as it was applied', () => {
  const cluster = suiteFixture(() => openCluster('fields'));
  const stored = new Map<StoredManifest, StoredManifest>();

  beforeAll(async () => {
    for (const sample of samples) {
      const { status, ...rest } = sample;
      let object = await cluster.apply(rest);
      if (status !== undefined)
        object = await cluster.apply(
          { apiVersion: sample.apiVersion, kind: sample.kind, metadata: sample.metadata, status },
          { subresource: 'status' },
        );
      stored.set(sample, object);
    }
  });

  it.each(leaves.map(({ path }) => path))('%s', (path) => {
    const sent = samples.flatMap((sample) => valuesAt(sample, path));
    expect(sent, 'no sample sets the field: add it to samples.ts').not.toEqual([]);
    // Where a sample leaves a field out its default comes back with the values that were sent.
    const returned = samples
      .filter((sample) => valuesAt(sample, path).length > 0)
      .flatMap((sample) => valuesAt(stored.get(sample) as StoredManifest, path));
    expect(returned).toEqual(sent);
  });
});
