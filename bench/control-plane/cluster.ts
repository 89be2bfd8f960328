/** The API server that a benchmark works against, as the parts need it: namespaces and Agents, many at once. */
import { createTransport, loadKubeConfig, ResourceClient, type KubeObject, type Stored, type Transport } from '../../kube/index.ts';
import { forEachOf } from '../harness/rounds.ts';
import { agentDescriptor, type BenchAgent } from './agents.ts';

/** As many as the transport has connections. */
const writesInFlight = 16;

const organizationLabel = { 'parley.dev/organization': 'true' };

export class Cluster {
  /** Path of the kubeconfig. */
  readonly kubeconfig: string;
  readonly transport: Transport;
  /** Writes under the manager `bench`. */
  readonly agents: ResourceClient<BenchAgent>;
  readonly #namespaces: ResourceClient<KubeObject>;

  constructor(options: { readonly kubeconfig: string }) {
    this.kubeconfig = options.kubeconfig;
    this.transport = createTransport({ kubeConfig: loadKubeConfig({ path: options.kubeconfig }) });
    this.agents = new ResourceClient({ transport: this.transport, descriptor: agentDescriptor, fieldManager: 'bench' });
    this.#namespaces = new ResourceClient({
      transport: this.transport,
      descriptor: { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false },
      fieldManager: 'bench',
    });
  }

  /** A new namespace that is an organisation. */
  async createNamespace(purpose: string): Promise<string> {
    const name = `bench-${purpose}-${Date.now().toString(36)}`;
    await this.#namespaces.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: organizationLabel } });
    return name;
  }

  /** Begins the deletion; the namespace controller does the rest in its own time. */
  async deleteNamespace(name: string): Promise<void> {
    await this.#namespaces.delete({ name });
  }

  /** Applies all of them, a few at a time, and answers what was stored, in the same order. */
  async applyAll(agents: readonly BenchAgent[], onApplied?: (done: number) => void): Promise<readonly Stored<BenchAgent>[]> {
    const stored: Stored<BenchAgent>[] = [];
    let done = 0;
    await forEachOf(agents, writesInFlight, async (agent, index) => {
      stored[index] = await this.agents.apply(agent, { force: true });
      onApplied?.((done += 1));
    });
    return stored;
  }

  /** The API server's own metrics. */
  async serverMetrics(): Promise<string> {
    const stream = await this.transport.stream({ method: 'GET', path: '/metrics', accept: 'text/plain' });
    const chunks: Uint8Array[] = [];
    for await (const chunk of stream.body) chunks.push(chunk);
    return Buffer.concat(chunks).toString('utf8');
  }

  close(): Promise<void> {
    return this.transport.close();
  }
}
