import type { AgentTest } from '../../crds/index.ts';
import { keyOf, type Informer, type KubeObject, type ResourceClient, type Stored } from '../../kube/index.ts';
import { UnsettledError } from '../runtime/unsettled-error.ts';

export interface KnownTestsOptions {
  readonly informer: Pick<Informer<AgentTest>, 'cache'>;
  /** Lists metadata only. */
  readonly client: Pick<ResourceClient<KubeObject>, 'listAll'>;
  readonly testsOf: (namespace: string, agent: string) => readonly Stored<AgentTest>[];
}

const LIST_TIMEOUT_MS = 10_000;
/** Time that a watch takes to catch up, in milliseconds. */
const RETRY_MS = 200;

/** The AgentTests as the informer knows them, and whether these are all that there are. */
export class KnownTests {
  readonly #options: KnownTestsOptions;
  /** In each namespace, the listing that is under way, and the one that follows it. */
  readonly #listings = new Map<string, { readonly running: Promise<void>; next?: Promise<void> }>();

  constructor(options: KnownTestsOptions) {
    this.#options = options;
  }

  keysOf({ org, name }: { readonly org: string; readonly name: string }): readonly string[] {
    return this.#options.testsOf(org, name).map(keyOf);
  }

  ofAgent({ metadata }: KubeObject): readonly AgentTest[] {
    return this.#options.testsOf(metadata.namespace ?? '', metadata.name);
  }

  testedAgents(): ReadonlySet<string> {
    const tests = this.#options.informer.cache.list().filter(({ spec }) => spec.required);
    return new Set(tests.flatMap(({ metadata, spec }) => spec.agentRefs.map(({ name }) => `${metadata.namespace ?? ''}/${name}`)));
  }

  /**
   * The watches of two kinds don't keep step: a test that was written before an agent may arrive after it, and long after it while its watch is
   * broken. So the API server is asked before a revision goes into service. Callers of one namespace share a listing that begins after they called.
   *
   * @throws UnsettledError where the informer lacks a test or its newest spec
   * @throws KubeError when the API server doesn't answer
   */
  requireUpToDate(namespace: string): Promise<void> {
    const known = this.#listings.get(namespace);
    if (known !== undefined) return (known.next ??= known.running.catch(() => undefined).then(() => this.#check(namespace)));
    return this.#check(namespace);
  }

  #check(namespace: string): Promise<void> {
    const running = this.#compare(namespace).finally(() => {
      if (this.#listings.get(namespace)?.running === running) this.#listings.delete(namespace);
    });
    this.#listings.set(namespace, { running });
    return running;
  }

  async #compare(namespace: string): Promise<void> {
    const { client, informer } = this.#options;
    const { items } = await client.listAll({ namespace, timeoutMs: LIST_TIMEOUT_MS });
    const missed = items.find((item) => {
      const { metadata } = item;
      const seen = informer.cache.get(keyOf(item));
      return seen?.metadata.uid !== metadata.uid || (seen.metadata.generation ?? 0) < (metadata.generation ?? 0);
    });
    if (missed !== undefined)
      throw new UnsettledError(`the watch has not brought AgentTest ${keyOf(missed)} yet, on which depends what may be served`, RETRY_MS);
  }
}
