/** The six kinds with a version that may come: made from their schemas, in a group of its own next to the real one. */
import { customResourceDefinitions, type CustomResourceDefinition, type StructuralSchema } from '../../../crds/generate.ts';
import { VERSION } from '../../../crds/index.ts';
import type { ValueGenerator } from '../../support/generated-objects.ts';
import { type Change, convert, type ConvertedObject, type Direction, type Fields } from './changes.ts';
import { changesOf, schemaOfV1 } from './schemas.ts';

export const GROUP = 'conversion.parley.dev';
export const OLD = `${GROUP}/${VERSION}`;
export const NEW = `${GROUP}/v1`;

export interface ChangedKind {
  readonly kind: string;
  readonly plural: string;
  readonly changes: readonly Change[];
  readonly schemas: { readonly [OLD]: StructuralSchema; readonly [NEW]: StructuralSchema };
  readonly definition: CustomResourceDefinition;
}

export function changedKinds(): readonly ChangedKind[] {
  return customResourceDefinitions().map((definition) => {
    const old = definition.spec.versions[0]?.schema.openAPIV3Schema.properties?.['spec'] ?? {};
    const changes = changesOf(old);
    const { kind, plural } = definition.spec.names;
    return { kind, plural, changes, schemas: { [OLD]: old, [NEW]: schemaOfV1(old, changes) }, definition };
  });
}

/** Returns the object in the other version, or as it is where it is in this one. */
export function toVersion(kinds: readonly ChangedKind[], object: ConvertedObject, apiVersion: string): ConvertedObject {
  const kind = kinds.find((each) => each.kind === object.kind);
  if (kind === undefined || (apiVersion !== OLD && apiVersion !== NEW)) throw new Error(`there is no ${object.kind} in ${apiVersion}`);
  if (object.apiVersion === apiVersion) return object;
  const direction: Direction = apiVersion === NEW ? 'up' : 'down';
  return convert(object, kind.changes, direction, apiVersion);
}

export function randomObject(
  { kind, schemas }: ChangedKind,
  apiVersion: typeof OLD | typeof NEW,
  name: string,
  generator: ValueGenerator,
): ConvertedObject {
  const spec = generator.value(schemas[apiVersion], { share: generator.pick([0.1, 0.4, 0.8]) }) as Fields;
  return { apiVersion, kind, metadata: { name, annotations: { note: 'stays' } }, spec };
}
