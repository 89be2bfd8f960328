import type { KubeObject, Stored } from '../../kube/types.ts';

/** Returns when the spec was last written, by whomever: RFC 3339, whole seconds. Status and metadata don't count. */
export function writtenAt({ metadata }: Stored<KubeObject>): string {
  const times = (metadata.managedFields ?? [])
    .filter((entry) => (entry.subresource ?? '') === '' && entry.fieldsV1?.['f:spec'] !== undefined)
    .map((entry) => entry.time ?? '');
  return times.reduce((latest, time) => (time > latest ? time : latest), metadata.creationTimestamp);
}
