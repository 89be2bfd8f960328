/** What the facade knows without asking: the watch caches of the kinds it lists, and how fresh they have to be. */
import type { Agent, Tool } from '../../crds/index.ts';
import { createInformer, type Informer } from '../../kube/informer.ts';
import { withoutBookkeeping } from '../../kube/transform.ts';
import { compareResourceVersions } from '../../kube/resource-version.ts';
import { keyOf, type KubeObject, type Stored } from '../../kube/types.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { Clients } from './kinds.ts';

/** How long a deletion is remembered, in milliseconds: far longer than a watch lags behind. */
const tombstoneMs = 60_000;
/** Answers to own writes that are kept at most. */
const recentObjects = 1000;
/** Longest wait for the cache to catch up with a write of this process, in milliseconds. */
const catchUpMs = 5_000;

/** A kind's objects by namespace, at least as new as everything this process has written. */
export class View<T extends KubeObject> {
  readonly #informer: Informer<T>;
  readonly #clock: ApiDependencies['clock'];
  readonly #deleted = new Map<string, number>();
  /** The last answers to this process's own writes, until the cache has them. */
  readonly #recent = new Map<string, Stored<T>>();
  #written = '';

  constructor(informer: Informer<T>, clock: ApiDependencies['clock']) {
    this.#informer = informer;
    this.#clock = clock;
  }

  /** Objects of which `index` answers `value`, without those that are being deleted. */
  async find(index: 'namespace' | 'agent', value: string): Promise<readonly Stored<T>[]> {
    await this.#caughtUp();
    return this.#informer.cache
      .byIndex(index, value)
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined && !this.#deleted.has(metadata.uid));
  }

  /** The newest state that this process knows of; the server may know a newer one. */
  newest(namespace: string, name: string): Stored<T> | undefined {
    const key = `${namespace}/${name}`;
    const [cached, recent] = [this.#informer.cache.get(key), this.#recent.get(key)];
    if (cached === undefined || recent === undefined) return cached ?? recent;
    if (compareResourceVersions(recent.metadata.resourceVersion, cached.metadata.resourceVersion) > 0) return recent;
    this.#recent.delete(key);
    return cached;
  }

  /** This process wrote `object`: later reads see it. */
  wrote(object: Stored<T>): void {
    const { resourceVersion } = object.metadata;
    this.#recent.set(keyOf(object), object);
    if (this.#recent.size > recentObjects) this.#recent.delete(this.#recent.keys().next().value ?? '');
    if (this.#written === '' || compareResourceVersions(resourceVersion, this.#written) > 0) this.#written = resourceVersion;
  }

  /** This process deleted `object`: later reads don't see it. */
  deleted(object: Stored<T>): void {
    const now = this.#clock.monotonic();
    for (const [uid, since] of this.#deleted) if (now - since > tombstoneMs) this.#deleted.delete(uid);
    this.#deleted.set(object.metadata.uid, now);
    this.#recent.delete(keyOf(object));
  }

  async #caughtUp(): Promise<void> {
    if (this.#written === '') return;
    // A watch that lags this far is down: what is there is the best there is.
    await this.#informer.cache.waitFor(this.#written, AbortSignal.timeout(catchUpMs)).catch(() => undefined);
  }
}

export interface Views {
  readonly agents: View<Agent>;
  /** Index `agent`: `namespace/agent name`. */
  readonly tools: View<Tool>;
  start(): void;
  stop(): Promise<void>;
}

/** Partial updates start from what the facade owns; kubectl's copy of the object is of no use to them. */
function withOwnership<T extends KubeObject>(object: Stored<T>): Stored<T> {
  const lean = withoutBookkeeping(object);
  const { managedFields } = object.metadata;
  return managedFields === undefined ? lean : { ...lean, metadata: { ...lean.metadata, managedFields } };
}

const byNamespace = ({ metadata }: KubeObject): readonly string[] => [metadata.namespace ?? ''];

export function createViews(clients: Clients, dependencies: ApiDependencies): Views {
  const { clock, random, logger, registry, readiness } = dependencies;
  const common = { random, logger, registry };
  const agents = createInformer<Agent>({
    client: clients.agents,
    transform: withOwnership,
    indexes: { namespace: byNamespace },
    ...common,
  });
  const tools = createInformer<Tool>({
    client: clients.tools,
    indexes: {
      namespace: byNamespace,
      agent: ({ metadata, spec }) => (spec.agentRefs ?? []).map(({ name }) => `${metadata.namespace ?? ''}/${name}`),
    },
    ...common,
  });
  const start = (name: string, informer: Informer<Agent> | Informer<Tool>): void => {
    readiness.notReady(name, 'the first listing is not complete');
    informer.start();
    informer.synced().then(
      () => readiness.ready(name),
      () => undefined,
    );
  };
  return {
    agents: new View(agents, clock),
    tools: new View(tools, clock),
    start() {
      start('agents', agents);
      start('tools', tools);
    },
    async stop() {
      await Promise.all([agents.stop(), tools.stop()]);
    },
  };
}
