import type { KubeObject } from './types.ts';

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * The object without the server's field ownership records and without kubectl's copy of what was last applied: together often
 * more than half of an object, and of no use to a reader.
 */
export function withoutBookkeeping<T extends KubeObject>(object: T): T {
  const { managedFields: _managedFields, annotations, ...metadata } = object.metadata;
  if (annotations === undefined) return { ...object, metadata };
  const { [lastApplied]: _lastApplied, ...others } = annotations;
  return { ...object, metadata: Object.keys(others).length > 0 ? { ...metadata, annotations: others } : metadata };
}
