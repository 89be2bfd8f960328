/** Gives the parts of a benchmark namespaces and Agents, many at once, on the API server that it works against. */
import {
  createTransport,
  KubeError,
  loadKubeConfig,
  ResourceClient,
  type KubeObject,
  type Stored,
  type Transport,
} from '../../../kube/index.ts';
import { forEachOf } from '../harness/rounds.ts';
import { Metrics } from '../harness/prometheus.ts';
import { agentDescriptor, type BenchAgent } from './agents.ts';
import type { BenchStack } from './stack.ts';

/** The transport has as many connections. */
const writesInFlight = 16;

const organizationLabel = { 'parley.dev/organization': 'true' };

export class BenchCluster {
  /** Path of the kubeconfig. */
  readonly kubeconfig: string;
  readonly transport: Transport;
  /** This client writes under the manager `bench`. */
  readonly agents: ResourceClient<BenchAgent>;
  readonly #disposable: boolean;
  readonly #namespaces: ResourceClient<KubeObject>;

  constructor(options: Pick<BenchStack, 'kubeconfig' | 'disposable'>) {
    this.kubeconfig = options.kubeconfig;
    this.#disposable = options.disposable;
    this.transport = createTransport({ kubeConfig: loadKubeConfig({ path: options.kubeconfig }) });
    this.agents = new ResourceClient({ transport: this.transport, descriptor: agentDescriptor, fieldManager: 'bench' });
    this.#namespaces = new ResourceClient({
      transport: this.transport,
      descriptor: { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false },
      fieldManager: 'bench',
    });
  }

  /** Creates a namespace that is an organisation. */
  async createNamespace(purpose: string): Promise<string> {
    const name = `bench-${purpose}-${Date.now().toString(36)}`;
    await this.#namespaces.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: organizationLabel } });
    return name;
  }

  /** Begins a deletion, which the namespace controller finishes unmeasured; does nothing where the whole server goes after the run. */
  async releaseNamespace(name: string): Promise<void> {
    if (!this.#disposable) await this.#namespaces.delete({ name });
  }

  /** Resolves when the namespace has gone; at once where the whole server goes. */
  async namespaceGone(name: string): Promise<void> {
    while (!this.#disposable) {
      const gone = await this.#namespaces.get({ name }).then(
        () => false,
        (error: unknown) => error instanceof KubeError && error.notFound,
      );
      if (gone) return;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }

  /** Applies all of them, a few at a time, and returns what was stored, in the same order. */
  async applyAll(agents: readonly BenchAgent[], onApplied?: (done: number) => void): Promise<readonly Stored<BenchAgent>[]> {
    const stored: Stored<BenchAgent>[] = [];
    let done = 0;
    await forEachOf(agents, writesInFlight, async (agent, index) => {
      stored[index] = await this.agents.apply(agent, { force: true });
      onApplied?.((done += 1));
    });
    return stored;
  }

  /** Reads the API server's own metrics. */
  async serverMetrics(): Promise<Metrics> {
    const stream = await this.transport.stream({ method: 'GET', path: '/metrics', accept: 'text/plain' });
    const chunks: Uint8Array[] = [];
    for await (const chunk of stream.body) chunks.push(chunk);
    return Metrics.parse(Buffer.concat(chunks).toString('utf8'));
  }

  close(): Promise<void> {
    return this.transport.close();
  }
}
