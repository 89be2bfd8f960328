/** Wraps the two clients that (a) compares, which do the same two things with the same objects. */
import { CustomObjectsApi, KubeConfig, PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';

import { createTransport, loadKubeConfig, ResourceClient } from '../../../kube/index.ts';
import { agentDescriptor, agentWithCondition, type BenchAgent } from './agents.ts';

interface Contender {
  get(name: string): Promise<unknown>;
  /** Writes a condition that differs from the stored one in `observedGeneration`. */
  applyStatus(name: string, observedGeneration: number): Promise<unknown>;
  close(): Promise<void>;
}

export interface ContenderOptions {
  /** Path of the kubeconfig. */
  readonly kubeconfig: string;
  readonly namespace: string;
}

export const contenders = { own: ownClient, stock: stockClient } as const;
export type ClientName = keyof typeof contenders;

const lastTransitionTime = '2024-01-01T00:00:00Z';

function ownClient({ kubeconfig, namespace }: ContenderOptions): Contender {
  const transport = createTransport({ kubeConfig: loadKubeConfig({ path: kubeconfig }) });
  const client = new ResourceClient<BenchAgent>({ transport, descriptor: agentDescriptor, fieldManager: 'bench-own' });
  return {
    get: (name) => client.get({ namespace, name }),
    applyStatus: (name, observedGeneration) =>
      client.applyStatus(agentWithCondition({ namespace, name, type: 'BenchOwn', observedGeneration, lastTransitionTime })),
    close: () => transport.close(),
  };
}

function stockClient({ kubeconfig, namespace }: ContenderOptions): Contender {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const client = config.makeApiClient(CustomObjectsApi);
  const { group, version, plural } = agentDescriptor;
  const asApply = setHeaderOptions('Content-Type', PatchStrategy.ServerSideApply);
  return {
    get: (name) => client.getNamespacedCustomObject({ group, version, namespace, plural, name }),
    applyStatus: (name, observedGeneration) =>
      client.patchNamespacedCustomObjectStatus(
        {
          group,
          version,
          namespace,
          plural,
          name,
          body: agentWithCondition({ namespace, name, type: 'BenchStock', observedGeneration, lastTransitionTime }),
          fieldManager: 'bench-stock',
          fieldValidation: 'Strict',
          force: true,
        },
        asApply,
      ),
    close: () => Promise.resolve(),
  };
}
