import type { KubeObject, ResourceClient, Transport } from '../../../../kube/index.ts';
import type { Widget } from './widget.ts';

/** Context that a group of rules works with. */
export interface ContractContext {
  readonly transport: Transport;
  /** Name of a namespace of this run. */
  readonly namespace: string;
  /** Returns a client of Widgets that writes as `manager`. */
  widgets(manager?: string): ResourceClient<Widget>;
  /** Returns a Widget with a unique name. */
  widget(spec: Widget['spec'], metadata?: Partial<KubeObject['metadata']>): Widget;
  client<T extends KubeObject>(
    kind: 'ConfigMap' | 'Secret' | 'Namespace' | 'Lease',
    options?: { readonly metadataOnly?: boolean },
  ): ResourceClient<T>;
}
