/** The public surface: everything a role needs to speak to an API server. */
export { KubeError, type KubeErrorOptions, type StatusCause } from './error.ts';
export * from './types.ts';
export {
  createTransport,
  loadKubeConfig,
  type KubeConfig,
  type KubeRequest,
  type KubeStream,
  type LoadKubeConfigOptions,
  type Transport,
  type TransportOptions,
} from './transport.ts';
export { kubeConfigOf } from './kube-config.ts';
export {
  ResourceClient,
  type ApplyOptions,
  type DeleteOptions,
  type ListOptions,
  type ObjectRef,
  type ResourcePage,
  type KubeRequestOptions,
  type ResourceClientOptions,
  type WatchOptions,
} from './resource-client.ts';
export { SecretReader, type SecretReaderOptions, type SecretVersion } from './secret-reader.ts';
export type { WatchEvent, WatchStream } from './watch-stream.ts';
export { extractOwned, type DeepPartial, type Extracted, type OwnerSelector } from './extract.ts';
export type { FieldSet } from './fields.ts';
export {
  createInformer,
  wentBack,
  withoutBookkeeping,
  type Change,
  type ChangeListener,
  type ChangeType,
  type Informer,
  type InformerOptions,
} from './informer.ts';
export { fixedInformer } from './fixed-informer.ts';
export type { Cache, IndexFunction } from './cache.ts';
export { compareResourceVersions } from './resource-version.ts';
export { Pacer } from './pacer.ts';
export { WorkQueue, type WorkQueueAddOptions, type WorkQueueRunOptions, type WorkQueueOptions } from './work-queue.ts';
export type { Priority } from './key-queue.ts';
export { LeaderElector, LeadershipLostError, type LeaderElectorOptions, type LeadOptions } from './lease.ts';
export { leases, type Lease, type LeaseSpec } from './lease-record.ts';
export { EventRecorder, type EventInput, type EventRecorderOptions, type EventType } from './events.ts';
export { SampledGauge, type Sample } from './sampled-gauge.ts';
