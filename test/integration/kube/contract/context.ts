import type { KubeObject, ResourceClient, Transport } from '../../../../kube/index.ts';
import type { Widget } from './widget.ts';

/** What a group of rules works with. */
export interface ContractContext {
  readonly transport: Transport;
  /** A namespace of this run. */
  readonly namespace: string;
  /** Widgets, written as `manager`. */
  widgets(manager?: string): ResourceClient<Widget>;
  /** A Widget with a unique name. */
  widget(spec: Widget['spec'], metadata?: Partial<KubeObject['metadata']>): Widget;
  client<T extends KubeObject>(
    kind: 'ConfigMap' | 'Secret' | 'Namespace' | 'Lease',
    options?: { readonly metadataOnly?: boolean },
  ): ResourceClient<T>;
}
