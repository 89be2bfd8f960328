/** Puts informers, triggers and controllers together: what happens in the cluster becomes keys in queues. */
import type { Registry } from 'prom-client';

import { agentReconciler } from '../agent/reconciler.ts';
import type { AgentAction } from '../agent/plan.ts';
import { ServingRevisionCache } from '../agent/serving-revision-cache.ts';
import type {
  Agent,
  AgentStatus,
  KnowledgeBase,
  KnowledgeBaseStatus,
  PhoneNumber,
  PhoneNumberStatus,
  Tool,
  ToolStatus,
  WebhookSubscription,
  WebhookSubscriptionStatus,
} from '../../crds/index.ts';
import { keyOf, type EventRecorder, type Informer, type KubeObject, type Transport } from '../../kube/index.ts';
import type { KnowledgeJobs } from '../../knowledge/jobs/jobs.ts';
import { knowledgeBaseReconciler } from '../knowledge-base/reconciler.ts';
import { JobStarter } from '../../knowledge/jobs/job-starter.ts';
import { KnowledgeBaseCache } from '../knowledge-base/knowledge-base-cache.ts';
import type { KnowledgeBaseAction } from '../knowledge-base/plan.ts';
import { createAddressChecks } from '../../voice/calls/address-checks.ts';
import { mediaServerOf } from '../../voice/calls/media-server.ts';
import { createSipTrunks } from '../../voice/calls/sip/trunks.ts';
import { NumberClaimCache } from '../phone-number/number-claim-cache.ts';
import { ownerOf, phoneNumberReconciler, type TelephonyClients } from '../phone-number/reconciler.ts';
import type { PhoneNumberAction } from '../phone-number/plan.ts';
import { PhoneRouteCache } from '../phone-number/phone-route-cache.ts';
import { TrunkCache } from '../phone-number/trunk-cache.ts';
import { TrunkPasswords } from '../phone-number/trunk-password.ts';
import { trunkSettingsOf } from '../phone-number/trunk-settings.ts';
import type { Clock, Timer } from '../../platform/clock.ts';
import type { Config } from '../../platform/config.ts';
import type { Logger } from '../../platform/logging.ts';
import { NumberAssignments } from '../../platform/number-assignments.ts';
import { NumberPool } from '../../platform/number-pool.ts';
import { numberReservationMs } from '../../platform/number-reservation.ts';
import { conditionOf } from '../status/conditions.ts';
import type { NumberOwner, Store } from '../../store/index.ts';
import { toolReconciler } from '../tool/reconciler.ts';
import { webhookSubscriptionReconciler } from '../webhook-subscription/reconciler.ts';
import type { SigningSecretAction } from '../webhook-subscription/plan.ts';
import { SigningSecrets } from '../webhook-subscription/signing-secret.ts';
import { createCaches, createClients, indexNames, type Caches, type Clients } from '../caches.ts';
import { SnapshotReader } from './snapshot-reader.ts';
import { KeyedThrottle } from './keyed-throttle.ts';
import { Controller } from './controller.ts';
import { KeyReader } from './key-reader.ts';
import { NamespaceInformers } from './namespace-informers.ts';
import { createMetrics, type OperatorMetrics } from './metrics.ts';
import { PostgresOutage } from './postgres-outage.ts';
import { Triggers, type CacheName, type Trigger } from '../triggers.ts';

export interface ManagerOptions {
  readonly config: Config;
  readonly transport: Transport;
  readonly store: Pick<Store, 'agentRevisions' | 'knowledge' | 'phoneRoutes' | 'numberClaims' | 'health'>;
  readonly jobs: KnowledgeJobs;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly registry: Registry;
}

interface Controllers {
  readonly agents: Controller<Agent, AgentAction, AgentStatus>;
  readonly tools: Controller<Tool, never, ToolStatus>;
  readonly phoneNumbers: Controller<PhoneNumber, PhoneNumberAction, PhoneNumberStatus>;
  readonly knowledgeBases: Controller<KnowledgeBase, KnowledgeBaseAction, KnowledgeBaseStatus>;
  readonly subscriptions: Controller<WebhookSubscription, SigningSecretAction, WebhookSubscriptionStatus>;
}

/** Everything is looked at again this often, in case an event was missed or somebody changed Postgres by hand; writes nothing unless there is a difference. */
const RESYNC_MS = 600_000;
/** Documents that come and go in a knowledge base show in its status this often, in milliseconds. */
const KNOWLEDGE_MS = 10_000;

export class Manager {
  readonly metrics: OperatorMetrics;
  readonly #options: ManagerOptions;
  readonly #caches: Caches;
  readonly #watch: NamespaceInformers;
  readonly #outage: PostgresOutage;
  readonly #book: ServingRevisionCache;
  readonly #starter: JobStarter;
  readonly #knowledge: KnowledgeBaseCache;
  readonly #knowledgeChanges: KeyedThrottle;
  readonly #routes: PhoneRouteCache;
  readonly #claims: NumberClaimCache;
  /** Absent where no media server is configured. */
  readonly #telephony: TelephonyClients | undefined;
  readonly #controllers: Controllers;
  #leading = false;
  /** What waits for Postgres. */
  readonly #waiting = { agents: new Set<string>(), knowledgeBases: new Set<string>(), phoneNumbers: new Set<string>() };

  constructor(options: ManagerOptions) {
    const { transport, logger, registry, clock, store } = options;
    this.#options = options;
    this.metrics = createMetrics(registry, () => this.#countObjects());
    const clients = createClients(transport);
    this.#caches = createCaches(clients, { transport, logger, registry, namespace: options.config.PARLEY_NAMESPACE });
    const triggers = new Triggers(this.#caches);
    this.#watch = new NamespaceInformers({
      transport,
      clock,
      logger,
      registry,
      onChange: (kind, change) => this.#trigger(triggers.onKeyed(kind, change.object)),
      onLateListing: (namespace) => this.#trigger(triggers.onOrganization(namespace)),
    });
    this.#outage = new PostgresOutage({ store, clock, logger, onRecovered: () => this.#recovered() });
    this.#book = new ServingRevisionCache({ store, outage: this.#outage });
    this.#starter = new JobStarter({ jobs: options.jobs, logger });
    this.#knowledge = new KnowledgeBaseCache({ store, outage: this.#outage, jobs: this.#starter });
    this.#knowledgeChanges = new KeyedThrottle({ clock, everyMs: KNOWLEDGE_MS, emit: (key) => this.#controllers.knowledgeBases.enqueue(key) });
    this.#routes = new PhoneRouteCache({ store, outage: this.#outage });
    this.#claims = new NumberClaimCache({ store, outage: this.#outage, reservedMs: numberReservationMs(options.config) });
    this.#telephony = this.#connectTelephony();
    this.#controllers = this.#createControllers(clients);
    this.#listen(triggers);
  }

  /** Begins to watch. A process that stands by keeps its caches warm this way. */
  start(): void {
    for (const informer of this.#informers) informer.start();
  }

  /** Resolves when every cache has its first listing. */
  async synced(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#informers.map((informer) => informer.synced(signal)));
    await Promise.all(this.#watch.namespaces.map((namespace) => this.#watch.listed(namespace, signal)));
  }

  /** Leads: works until the signal aborts, and resolves when nothing is in flight any more. */
  async lead(signal: AbortSignal): Promise<void> {
    await this.synced(signal);
    // Whoever led before may have put other revisions into service.
    this.#book.clear();
    this.#knowledge.clear();
    this.#routes.clear();
    this.#claims.clear();
    this.#telephony?.book.clear();
    const stopLooking = this.#telephony?.book.start();
    const resync = this.#resyncEvery(RESYNC_MS);
    const running = this.#all.map((controller) => controller.run(signal));
    this.#leading = true;
    this.#reserveNumbers();
    const listening = this.#options.store.knowledge.listen({
      onChange: (base) => {
        // At once: whoever looks for another reason sees it as it is.
        this.#knowledge.stale(base);
        this.#knowledgeChanges.tell(`${base.org}/${base.name}`);
      },
      onListening: () => {
        this.#knowledge.clear();
        this.#controllers.knowledgeBases.enqueueAll('resync');
      },
    });
    try {
      await Promise.all(running);
    } finally {
      this.#leading = false;
      resync.cancel();
      stopLooking?.();
      await listening.stop();
      this.#knowledgeChanges.clear();
    }
  }

  async stop(): Promise<void> {
    this.#outage.close();
    for (const controller of this.#all) controller.shutDown();
    await Promise.all([this.#starter.close(), this.#watch.stop(), ...this.#informers.map((informer) => informer.stop())]);
  }

  get #informers(): readonly Pick<Informer<KubeObject>, 'start' | 'stop' | 'synced'>[] {
    return Object.values(this.#caches) as readonly Pick<Informer<KubeObject>, 'start' | 'stop' | 'synced'>[];
  }

  get #all(): readonly Pick<Controller<Agent, never, AgentStatus>, 'enqueue' | 'enqueueAll' | 'run' | 'shutDown'>[] {
    return Object.values(this.#controllers) as readonly Pick<
      Controller<Agent, never, AgentStatus>,
      'enqueue' | 'enqueueAll' | 'run' | 'shutDown'
    >[];
  }

  #createControllers(clients: Clients): Controllers {
    const { config, transport, events, clock, random, logger, registry } = this.#options;
    const caches = this.#caches;
    const addresses = createAddressChecks(config);
    const snapshots = new SnapshotReader({ caches, watch: this.#watch, reader: new KeyReader(transport, clock), addresses });
    const isTerminating = (namespace: string): boolean =>
      caches.organizations.cache.get(namespace)?.metadata.deletionTimestamp !== undefined;
    const shared = {
      events,
      isTerminating,
      metrics: this.metrics,
      concurrency: config.PARLEY_RECONCILE_CONCURRENCY,
      clock,
      random,
      logger,
      registry,
    };
    const secrets = new SigningSecrets({ transport });
    const agents = agentReconciler({
      client: clients.agents,
      snapshots,
      book: this.#book,
      deletionGraceMs: config.PARLEY_DELETION_GRACE_MS,
      onWaiting: (key) => this.#waiting.agents.add(key),
    });
    return {
      agents: new Controller({ logic: agents, informer: caches.agents, client: clients.agents, ...shared }),
      tools: new Controller({ logic: toolReconciler(snapshots), informer: caches.tools, client: clients.tools, ...shared }),
      phoneNumbers: new Controller({
        logic: phoneNumberReconciler({
          client: clients.phoneNumbers,
          snapshots,
          nativeNumbers: new NumberPool(config.PARLEY_NATIVE_NUMBERS),
          claims: this.#claims,
          onClaimed: (owner) => this.#numberClaimed(owner),
          assignments: new NumberAssignments(config.PARLEY_NUMBER_ASSIGNMENTS),
          routes: this.#routes,
          passwords: new TrunkPasswords({ transport }),
          deletionGraceMs: config.PARLEY_DELETION_GRACE_MS,
          telephony: this.#telephony,
          onWaiting: (key) => this.#waiting.phoneNumbers.add(key),
        }),
        informer: caches.phoneNumbers,
        client: clients.phoneNumbers,
        ...shared,
      }),
      knowledgeBases: new Controller({
        logic: knowledgeBaseReconciler({
          client: clients.knowledgeBases,
          snapshots,
          book: this.#knowledge,
          profiles: config.PARLEY_EMBEDDING_PROFILES,
          store: config.VECTOR_STORE_URL.startsWith('milvus') ? 'milvus' : 'pgvector',
          deletionGraceMs: config.PARLEY_DELETION_GRACE_MS,
          onWaiting: (key) => this.#waiting.knowledgeBases.add(key),
        }),
        informer: caches.knowledgeBases,
        client: clients.knowledgeBases,
        ...shared,
      }),
      subscriptions: new Controller({
        logic: webhookSubscriptionReconciler({ snapshots, secrets, addressProblem: (url) => addresses.web(url) }),
        informer: caches.subscriptions,
        client: clients.subscriptions,
        ...shared,
      }),
    };
  }

  #connectTelephony(): TelephonyClients | undefined {
    const { config, clock, logger } = this.#options;
    const mediaServer = mediaServerOf(config);
    if (mediaServer === undefined) return undefined;
    const trunks = createSipTrunks(mediaServer);
    const onChanged = (uids: ReadonlySet<string>): void => {
      for (const object of this.#caches.phoneNumbers.cache.list())
        if (uids.has(object.metadata.uid)) this.#controllers.phoneNumbers.enqueue(keyOf(object));
    };
    const book = new TrunkCache({ trunks, clock, logger, lookEveryMs: config.PARLEY_TRUNKS_LOOK_MS, onChanged });
    return { book, trunks, settings: trunkSettingsOf(config) };
  }

  #listen(triggers: Triggers): void {
    const { agents, tools, phoneNumbers, knowledgeBases, subscriptions, organizations } = this.#caches;
    const controllers = this.#controllers;
    agents.onChange((change) => {
      if (change.type === 'deleted') this.#book.forget(change.object.metadata.uid);
      controllers.agents.changed(change);
      this.#trigger(triggers.onAgent(change));
    });
    tools.onChange((change) => {
      controllers.tools.changed(change);
      this.#trigger(triggers.onTool(change));
    });
    phoneNumbers.onChange((change) => {
      controllers.phoneNumbers.changed(change);
      if (change.type === 'deleted') this.#reserveNumber(ownerOf(change.object));
      this.#trigger(triggers.onPhoneNumber(change));
    });
    knowledgeBases.onChange((change) => {
      const { namespace = '', name } = change.object.metadata;
      if (change.type === 'deleted') this.#knowledge.forget({ org: namespace, name });
      controllers.knowledgeBases.changed(change);
      this.#trigger(triggers.onKnowledgeBase(change));
    });
    subscriptions.onChange((change) => {
      controllers.subscriptions.changed(change);
      this.#trigger(triggers.onSubscription(change));
    });
    organizations.onChange((change) => {
      if (change.type === 'modified') return;
      const { name } = change.object.metadata;
      if (change.type === 'added') this.#watch.add(name);
      else
        void this.#watch
          .remove(name)
          .catch((err: unknown) => this.#options.logger.warn({ err, namespace: name }, 'a watch could not be stopped'));
      this.#trigger(triggers.onOrganization(name));
      if (change.type === 'deleted') this.#reserveNumbers();
    });
  }

  /** Its rivals look again. An object that went while it was claiming has been released too early. */
  #numberClaimed(owner: NumberOwner): void {
    const rivals = this.#caches.phoneNumbers.cache.byIndex(indexNames.number, owner.number);
    if (rivals.some(({ metadata }) => metadata.uid === owner.uid)) this.#lookAgain([owner.number]);
    else this.#reserveNumber(owner);
  }

  /** A number whose object is gone is reserved from now on; its rivals look again, to say until when. */
  #reserveNumber(owner: NumberOwner): void {
    if (!this.#leading) return;
    this.#inBackground(this.#claims.release(owner).then(() => this.#lookAgain([owner.number])));
  }

  /** The same for whatever went unseen: while no operator ran, Postgres was away, or with its organisation. */
  #reserveNumbers(): void {
    if (!this.#leading) return;
    const { phoneNumbers, organizations } = this.#caches;
    const there = phoneNumbers.cache.list().filter(({ metadata }) => organizations.cache.get(metadata.namespace ?? '') !== undefined);
    const living = there.map(({ metadata }) => metadata.uid);
    const released = this.#claims.releaseOthers(living, this.#options.config.PARLEY_NAMESPACE);
    this.#inBackground(released.then((numbers) => this.#lookAgain(numbers)));
  }

  #lookAgain(numbers: readonly string[]): void {
    const { cache } = this.#caches.phoneNumbers;
    for (const number of numbers)
      for (const object of cache.byIndex(indexNames.number, number)) this.#controllers.phoneNumbers.enqueue(keyOf(object));
  }

  #inBackground(work: Promise<void>): void {
    work.catch((err: unknown) => this.#options.logger.warn({ err }, 'failed to reserve phone numbers; retrying with the next resync'));
  }

  #trigger(triggers: readonly Trigger[]): void {
    for (const { cache, key } of triggers) this.#controllers[cache].enqueue(key);
  }

  #recovered(): void {
    this.#reserveNumbers();
    for (const cache of ['agents', 'knowledgeBases', 'phoneNumbers'] as const) {
      const keys = [...this.#waiting[cache]];
      this.#waiting[cache].clear();
      for (const key of keys) this.#controllers[cache].enqueue(key);
    }
  }

  #resyncEvery(ms: number): Timer {
    const { clock } = this.#options;
    let timer = clock.after(ms, function again() {
      onTime();
      timer = clock.after(ms, again);
    });
    const onTime = (): void => {
      this.#book.clear();
      this.#knowledge.clear();
      this.#routes.clear();
      this.#claims.clear();
      this.#reserveNumbers();
      for (const controller of this.#all) controller.enqueueAll('resync');
    };
    return { cancel: () => timer.cancel() };
  }

  #countObjects(): ReadonlyMap<string, ReadonlyMap<string, number>> {
    const kinds: Readonly<Record<CacheName, string>> = {
      agents: 'Agent',
      tools: 'Tool',
      phoneNumbers: 'PhoneNumber',
      knowledgeBases: 'KnowledgeBase',
      subscriptions: 'WebhookSubscription',
    };
    return new Map(
      (Object.keys(kinds) as CacheName[]).map((cache) => {
        const counts = new Map([
          ['True', 0],
          ['False', 0],
          ['Unknown', 0],
          ['', 0],
        ]);
        for (const object of this.#caches[cache].cache.list()) {
          const ready = conditionOf(object, 'Ready')?.status ?? '';
          counts.set(ready, (counts.get(ready) ?? 0) + 1);
        }
        return [kinds[cache], counts];
      }),
    );
  }
}
