/** The public surface: everything a role needs to speak to an API server. */
export { KubeError } from './error.ts';
export * from './types.ts';
export { createTransport, loadKubeConfig, type KubeConfig, type KubeRequest, type Transport } from './transport.ts';
export { kubeConfigOf } from './kube-config.ts';
export { ResourceClient, type ObjectRef } from './resource-client.ts';
export { SecretReader, secretText, type SecretVersion } from './secret-reader.ts';
export { timestamp } from './timestamps.ts';
export type { WatchEvent, WatchStream } from './watch-stream.ts';
export { extractOwned } from './extract.ts';
export { createInformer, wentBack, type Change, type Informer, type InformerOptions } from './informer.ts';
export { fixedInformer } from './fixed-informer.ts';
export type { IndexFunction } from './cache.ts';
export { compareResourceVersions } from './resource-version.ts';
export { WorkQueue } from './work-queue.ts';
export type { Priority } from './key-queue.ts';
export { LeaderElector } from './lease.ts';
export { leases, type Lease } from './lease-record.ts';
export { EventRecorder } from './events.ts';
