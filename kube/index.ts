/** The public surface: everything a role needs to speak to an API server. */
export { KubeError, type KubeErrorOptions, type StatusCause } from './error.ts';
export * from './types.ts';
export { createTransport, loadKubeConfig, type KubeConfig, type KubeRequest, type KubeStream, type LoadKubeConfigOptions, type Transport, type TransportOptions } from './transport.ts';
export {
  ResourceClient,
  type ApplyOptions,
  type DeleteOptions,
  type ListOptions,
  type ObjectRef,
  type Page,
  type RequestOptions,
  type ResourceClientOptions,
  type WatchOptions,
} from './resource-client.ts';
export type { WatchEvent, WatchStream } from './watch-stream.ts';
export { extractOwned, fieldPathsOf, ownedPaths, type DeepPartial, type Extracted, type OwnerSelector } from './extract.ts';
export type { FieldSet } from './fields.ts';
