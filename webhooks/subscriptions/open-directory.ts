import type { Registry } from 'prom-client';

import { agentKind, webhookSubscriptionKind, wellKnown, type Agent, type WebhookSubscription } from '../../crds/index.ts';
import {
  compareResourceVersions,
  createInformer,
  ResourceClient,
  type Change,
  type Informer,
  type KubeObject,
  type ResourceDescriptor,
  type SecretVersion,
  type Stored,
  type Transport,
} from '../../kube/index.ts';
import { systemClock, type Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { credentialsAt, makeCredentials, secretsOf, type Credentials, type CredentialSet } from './credentials.ts';
import type { EndpointChange, EndpointDirectory, Watermark } from './directory.ts';
import type { Endpoint, EventToMatch } from './endpoint.ts';
import { endpointOfAgent, endpointOfSubscription } from './endpoint-of.ts';
import { agentLookupKey, indexKeys, lookupKeys, matches } from './match.ts';
import { versionOf, versionOnly, WatchedSecrets } from './watched-secrets.ts';

export interface EndpointDirectoryOptions {
  readonly transport: Transport;
  readonly logger: Logger;
  readonly registry?: Registry;
  readonly clock?: Clock;
  /** The only namespace to look at; all of them where undefined. */
  readonly namespace?: string | undefined;
}

/** Nothing is sent before {@link EndpointDirectory.start}. */
export function createEndpointDirectory(options: EndpointDirectoryOptions): EndpointDirectory {
  return new WatchedDirectory(options);
}

/** A resource, of which only the endpoint is kept: with ten thousand subscriptions their specs would be most of this process's memory. */
interface Listed extends KubeObject {
  readonly endpoint?: Endpoint;
  /** Label `parley.dev/workspace` of an agent. */
  readonly workspace?: string;
}

const FIELD_MANAGER = 'parley-dispatcher';

/** How many endpoints' Secrets are read ahead at the same time: no delivery waits for it, and the API server has other clients. */
const READ_AHEAD = 2;

class WatchedDirectory implements EndpointDirectory {
  readonly #clock: Clock;
  readonly #secrets: WatchedSecrets;
  readonly #subscriptions: Informer<Listed>;
  readonly #agents: Informer<Listed>;
  readonly #listeners = new Set<(change: EndpointChange) => void>();
  /** Credentials by the uid of their endpoint. */
  readonly #credentials = new Map<string, { readonly generation: number; readonly set: CredentialSet }>();
  /** Uids of endpoints whose Secrets are still to be read ahead. */
  readonly #cold = new Set<string>();
  #warming = 0;

  constructor(options: EndpointDirectoryOptions) {
    const { clock = systemClock } = options;
    this.#clock = clock;
    this.#secrets = new WatchedSecrets({ ...options, clock });
    this.#subscriptions = this.#informer(options, webhookSubscriptionKind.descriptor, (object) =>
      endpointOfSubscription(object as unknown as Stored<WebhookSubscription>),
    );
    this.#agents = this.#informer(options, agentKind.descriptor, (object) => endpointOfAgent(object as unknown as Stored<Agent>));
  }

  get connected(): boolean {
    return this.#informers.every(({ connected }) => connected);
  }

  start(): void {
    this.#subscriptions.start();
    this.#agents.start();
  }

  async stop(): Promise<void> {
    this.#cold.clear();
    await Promise.all([this.#subscriptions.stop(), this.#agents.stop(), this.#secrets.stop()]);
  }

  async synced(signal?: AbortSignal): Promise<void> {
    await Promise.all([this.#subscriptions.synced(signal), this.#agents.synced(signal)]);
  }

  matching(given: EventToMatch): readonly Endpoint[] {
    const event = { ...this.#inWorkspace(given), ...given };
    if (event.onlySubscription !== undefined) {
      const endpoint = this.byUid(event.onlySubscription);
      return endpoint !== undefined && matches(endpoint, event) ? [endpoint] : [];
    }
    const found: Endpoint[] = [];
    const collect = ({ cache }: Informer<Listed>, key: string): void => {
      for (const { endpoint } of cache.byIndex('match', key)) if (endpoint !== undefined && matches(endpoint, event)) found.push(endpoint);
    };
    for (const key of lookupKeys(event)) collect(this.#subscriptions, key);
    const agentKey = agentLookupKey(event);
    if (agentKey !== undefined) collect(this.#agents, agentKey);
    return found;
  }

  /** An event about an agent is one of the workspace that the agent's label names now, unless it says another one. */
  #inWorkspace({ org, agent }: EventToMatch): Pick<EventToMatch, 'workspace'> {
    const workspace = agent === undefined ? undefined : this.#agents.cache.get(`${org}/${agent}`)?.workspace;
    return workspace === undefined ? {} : { workspace };
  }

  byUid(uid: string): Endpoint | undefined {
    for (const { cache } of this.#informers) {
      const [object] = cache.byIndex('uid', uid);
      if (object !== undefined) return object.endpoint;
    }
    return undefined;
  }

  list(org?: string): readonly Endpoint[] {
    return this.#informers
      .flatMap(({ cache }) => (org === undefined ? cache.list() : cache.byIndex('org', org)))
      .flatMap(({ endpoint }) => endpoint ?? []);
  }

  async credentials(endpoint: Endpoint): Promise<Credentials> {
    const { org, uid, generation } = endpoint;
    const known = this.#credentials.get(uid);
    if (known?.generation === generation && this.#current(org, known.set)) return credentialsAt(known.set, this.#clock.now());
    const names = secretsOf(endpoint);
    const secrets = await Promise.all(
      names.map(async (name): Promise<[string, SecretVersion]> => [
        name,
        this.#secrets.known(org, name) ?? (await this.#secrets.read(org, name)),
      ]),
    );
    const set = makeCredentials(endpoint, new Map(secrets));
    // A deleted endpoint needs none any more, and they would stay for ever.
    if (this.byUid(uid) !== undefined) this.#credentials.set(uid, { generation, set });
    return credentialsAt(set, this.#clock.now());
  }

  onChange(listener: (change: EndpointChange) => void): () => void {
    const own = (change: EndpointChange): void => listener(change);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  behind(org: string, { subscriptions, secrets }: Watermark): boolean {
    if (isSet(subscriptions)) {
      const { cache } = this.#subscriptions;
      if (!cache.synced || compareResourceVersions(cache.resourceVersion, subscriptions) < 0) return true;
    }
    return isSet(secrets) && this.#secrets.behind(org, secrets);
  }

  async waitFor(org: string, { subscriptions, secrets }: Watermark, signal?: AbortSignal): Promise<void> {
    if (isSet(subscriptions)) await this.#subscriptions.cache.waitFor(subscriptions, signal);
    if (isSet(secrets)) await this.#secrets.waitFor(org, secrets, signal);
  }

  get #informers(): readonly Informer<Listed>[] {
    return [this.#subscriptions, this.#agents];
  }

  #current(org: string, { versions }: CredentialSet): boolean {
    for (const name in versions) {
      const values = this.#secrets.known(org, name);
      if (values === undefined || versions[name] !== versionOf(values)) return false;
    }
    return true;
  }

  #informer(
    { transport, logger, registry, clock, namespace }: EndpointDirectoryOptions,
    descriptor: ResourceDescriptor,
    endpointOf: (object: Stored<KubeObject>) => Endpoint | undefined,
  ): Informer<Listed> {
    const informer = createInformer<Listed>({
      client: new ResourceClient<Listed>({ transport, descriptor, fieldManager: FIELD_MANAGER }),
      ...(namespace === undefined ? {} : { namespace }),
      transform: (object) => lean(object, endpointOf(object)),
      indexes: {
        match: ({ endpoint }) => (endpoint === undefined ? [] : indexKeys(endpoint)),
        uid: ({ endpoint }) => (endpoint === undefined ? [] : [endpoint.uid]),
        org: ({ endpoint }) => (endpoint === undefined ? [] : [endpoint.org]),
      },
      logger,
      ...(registry === undefined ? {} : { registry }),
      ...(clock === undefined ? {} : { clock }),
    });
    informer.onChange((change) => this.#changed(change));
    return informer;
  }

  /** Reads Secrets ahead, so that a first delivery doesn't need the API server. What can't be read now is read when it is needed. */
  async #warmUp(): Promise<void> {
    this.#warming += 1;
    for (const uid of this.#cold) {
      this.#cold.delete(uid);
      const endpoint = this.byUid(uid);
      if (endpoint !== undefined) await this.credentials(endpoint).catch(() => undefined);
    }
    this.#warming -= 1;
  }

  #changed({ type, object, previous }: Change<Stored<Listed>>): void {
    const before = type === 'deleted' ? object.endpoint : previous?.endpoint;
    const after = type === 'deleted' ? undefined : object.endpoint;
    if (after !== undefined && before?.generation === after.generation) return;
    if (after !== undefined && needsSecrets(after)) {
      this.#secrets.watch(after.org);
      this.#cold.add(after.uid);
      if (this.#warming < READ_AHEAD) void this.#warmUp();
    }
    if (before !== undefined && needsSecrets(before)) this.#secrets.unwatch(before.org);
    const uid = after?.uid ?? before?.uid;
    if (uid === undefined) return;
    this.#credentials.delete(uid);
    const change = { uid, ...(after === undefined ? {} : { endpoint: after }), ...(before === undefined ? {} : { previous: before }) };
    for (const listener of this.#listeners) listener(change);
  }
}

const needsSecrets = (endpoint: Endpoint): boolean => secretsOf(endpoint).length > 0;

const isSet = (version: string | undefined): version is string => version !== undefined && version !== '';

function lean(object: Stored<KubeObject>, endpoint: Endpoint | undefined): Stored<Listed> {
  const workspace = object.kind === 'Agent' ? object.metadata.labels?.[wellKnown.workspaceLabel] : undefined;
  return { ...versionOnly(object), ...(endpoint !== undefined && { endpoint }), ...(workspace !== undefined && { workspace }) };
}
