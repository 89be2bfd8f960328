/** The built-in kinds that the double knows. */
import type { DoubleResource } from './resource.ts';
import type { Json, JsonSchema } from './schema.ts';

const string: JsonSchema = { type: 'string' };
const strings: JsonSchema = { type: 'object', additionalProperties: string };
/** `metav1.MicroTime` is parsed with exactly six decimals. */
const microTime: JsonSchema = {
  type: 'string',
  nullable: true,
  pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)$`,
};

const builtIn = { statusSubresource: false, generation: false, builtIn: true, unconditionalUpdate: true } as const;

export const builtIns: readonly DoubleResource[] = [
  {
    ...builtIn,
    descriptor: { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false },
    statusSubresource: true,
    schema: {
      type: 'object',
      properties: {
        spec: { type: 'object', properties: { finalizers: { type: 'array', items: string } } },
        status: { type: 'object', properties: { phase: string } },
      },
    },
    prepare: (object) => {
      const metadata = object['metadata'] as Json;
      const labels = { ...(metadata['labels'] as Json | undefined), 'kubernetes.io/metadata.name': metadata['name'] };
      return { ...object, metadata: { ...metadata, labels }, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } };
    },
  },
  {
    ...builtIn,
    descriptor: { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true },
    schema: { type: 'object', properties: { data: strings, binaryData: strings, immutable: { type: 'boolean' } } },
  },
  {
    ...builtIn,
    descriptor: { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true },
    schema: { type: 'object', properties: { data: strings, stringData: strings, type: string, immutable: { type: 'boolean' } } },
    prepare: ({ stringData, ...object }) => {
      const encoded = Object.entries((stringData ?? {}) as Readonly<Record<string, string>>).map(
        ([key, value]) => [key, Buffer.from(value).toString('base64')] as const,
      );
      const data = { ...(object['data'] as Json | undefined), ...Object.fromEntries(encoded) };
      return { ...object, ...(Object.keys(data).length > 0 ? { data } : {}), type: object['type'] ?? 'Opaque' };
    },
  },
  {
    ...builtIn,
    unconditionalUpdate: false,
    descriptor: { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease', plural: 'leases', namespaced: true },
    schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: {
            holderIdentity: string,
            leaseDurationSeconds: { type: 'integer' },
            acquireTime: microTime,
            renewTime: microTime,
            leaseTransitions: { type: 'integer' },
            strategy: string,
            preferredHolder: string,
          },
        },
      },
    },
  },
  {
    ...builtIn,
    descriptor: { group: 'events.k8s.io', version: 'v1', kind: 'Event', plural: 'events', namespaced: true },
    schema: {
      type: 'object',
      properties: {
        eventTime: microTime,
        series: { type: 'object', properties: { count: { type: 'integer' }, lastObservedTime: microTime } },
        reportingController: string,
        reportingInstance: string,
        action: string,
        reason: string,
        regarding: { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: string },
        related: { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: string },
        note: { ...string, maxLength: 1024 },
        type: { ...string, enum: ['Normal', 'Warning'] },
        deprecatedSource: strings,
        deprecatedFirstTimestamp: { ...string, nullable: true },
        deprecatedLastTimestamp: { ...string, nullable: true },
        deprecatedCount: { type: 'integer' },
      },
    },
  },
];
