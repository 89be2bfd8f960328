/**
 * What clients rely on an API server for, and what ResourceClient promises on top: one suite for the double and the real thing.
 * When the two differ, the double is wrong.
 */
import { randomBytes } from 'node:crypto';

import { afterAll, beforeAll, describe } from 'vitest';

import { createTransport, ResourceClient, type KubeConfig, type KubeObject, type Transport } from '../../kube/index.ts';
import { applyRules } from './kube-contract/apply.ts';
import { extractRules } from './kube-contract/extract.ts';
import { lifecycleRules } from './kube-contract/lifecycle.ts';
import { readRules } from './kube-contract/read.ts';
import { refusalRules } from './kube-contract/refusals.ts';
import { statusRules } from './kube-contract/status.ts';
import { watchRules } from './kube-contract/watch.ts';
import { widgetDescriptor, type Widget } from './kube-contract/widget.ts';

export interface ContractServer {
  readonly kubeConfig: KubeConfig;
  stop(): Promise<void>;
}

/** What a group of rules works with. */
export interface ContractContext {
  readonly transport: Transport;
  /** A namespace of this run. */
  readonly namespace: string;
  /** Widgets, written as `manager`. */
  widgets(manager?: string): ResourceClient<Widget>;
  /** A Widget of a name that nobody else uses. */
  widget(spec: Widget['spec'], metadata?: Partial<KubeObject['metadata']>): Widget;
  client<T extends KubeObject>(
    kind: 'ConfigMap' | 'Secret' | 'Namespace' | 'Lease',
    options?: { readonly metadataOnly?: boolean },
  ): ResourceClient<T>;
}

const builtIn = {
  ConfigMap: { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true },
  Secret: { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true },
  Namespace: { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false },
  Lease: { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease', plural: 'leases', namespaced: true },
} as const;

/** @param setup starts a server that serves Widgets */
export function kubeContract(name: string, setup: () => Promise<ContractServer>): void {
  describe(`API server contract: ${name}`, () => {
    let server: ContractServer;
    let transport: Transport;
    const namespace = `contract-${randomBytes(4).toString('hex')}`;
    let count = 0;
    const context: ContractContext = {
      get transport() {
        return transport;
      },
      namespace,
      widgets: (manager = 'first') => new ResourceClient<Widget>({ transport, descriptor: widgetDescriptor, fieldManager: manager }),
      widget: (spec, metadata = {}) => ({
        apiVersion: 'contract.parley.dev/v1',
        kind: 'Widget',
        metadata: { name: `w-${++count}`, namespace, ...metadata },
        ...(spec === undefined ? {} : { spec }),
      }),
      client: (kind, options = {}) => new ResourceClient({ transport, descriptor: builtIn[kind], fieldManager: 'first', ...options }),
    };

    beforeAll(async () => {
      server = await setup();
      transport = createTransport({ kubeConfig: server.kubeConfig });
      await context.client<KubeObject>('Namespace').apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    });
    afterAll(async () => {
      await context
        .client('Namespace')
        .delete({ name: namespace })
        .catch(() => undefined);
      await transport.close();
      await server.stop();
    });

    describe('reading', () => {
      readRules(context);
    });
    describe('applying', () => {
      applyRules(context);
    });
    describe('extracting', () => {
      extractRules(context);
    });
    describe('refusals', () => {
      refusalRules(context);
    });
    describe('status', () => {
      statusRules(context);
    });
    describe('lifecycle', () => {
      lifecycleRules(context);
    });
    describe('watching', () => {
      watchRules(context);
    });
  });
}
