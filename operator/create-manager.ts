/** Wires the six kinds: what each reconciler needs, and which controllers the manager runs. */
import type { Registry } from 'prom-client';

import { agentTestKind, type CommonStatus } from '../crds/index.ts';
import { keyOf, ResourceClient, type Change, type EventRecorder, type KubeObject, type Stored, type Transport } from '../kube/index.ts';
import type { JobStarter } from '../knowledge/jobs/job-starter.ts';
import type { Clock } from '../platform/clock.ts';
import type { Config } from '../platform/config/config.ts';
import type { Logger } from '../platform/logging.ts';
import { NumberAssignments, NumberPool, numberReservationMs } from '../platform/config/phone-numbers.ts';
import { watchReleases, type Store } from '../store/index.ts';
import { createAddressChecks } from '../calls/address-checks.ts';
import { mediaServerOf } from '../calls/media-server.ts';
import { createSipTrunks } from '../calls/sip/trunks.ts';
import { KnownTests } from './agent-test/known-tests.ts';
import { agentTestReconciler } from './agent-test/reconciler.ts';
import { agentReconciler } from './agent/reconciler.ts';
import { ReleaseMetrics } from './agent/release-metrics.ts';
import { ServingRevisionCache } from './agent/serving-revision-cache.ts';
import {
  createClients,
  createInformers,
  createOrganizationInformer,
  INDEXES,
  lookupsOf,
  type KindName,
  type ObjectsByKind,
} from './informers.ts';
import { KnowledgeBaseCache } from './knowledge-base/knowledge-base-cache.ts';
import { knowledgeBaseReconciler } from './knowledge-base/reconciler.ts';
import { NumberClaimCache } from './phone-number/number-claim-cache.ts';
import { NumberReservations } from './phone-number/number-reservations.ts';
import { PhoneRouteCache } from './phone-number/phone-route-cache.ts';
import { phoneNumberReconciler, type MediaServerClients } from './phone-number/reconciler.ts';
import { TrunkCache } from './phone-number/trunk-cache.ts';
import { TrunkPasswords } from './phone-number/trunk-password.ts';
import { trunkSettingsOf } from './phone-number/trunk-settings.ts';
import { Controller, type KindController, type Trigger } from './runtime/controller.ts';
import { createAdopter } from './runtime/adopter.ts';
import { KeyReader } from './runtime/key-reader.ts';
import { Manager } from './runtime/manager.ts';
import { referenceKey } from './references/references-of.ts';
import type { OperatorMetrics } from './runtime/metrics.ts';
import { FIELD_MANAGER, NamespaceInformers } from './runtime/namespace-informers.ts';
import { PostgresOutage } from './runtime/postgres-outage.ts';
import type { Reconciler } from './runtime/reconciler.ts';
import { SnapshotReader } from './runtime/snapshot-reader.ts';
import { Sweep } from './runtime/sweep.ts';
import { ToolListCache } from './tool/tool-list-cache.ts';
import { toolReconciler } from './tool/reconciler.ts';
import { Triggers } from './triggers.ts';
import { webhookSubscriptionReconciler } from './webhook-subscription/reconciler.ts';
import { unusableKeys } from './webhook-subscription/signing-keys.ts';
import { SigningSecrets } from './webhook-subscription/signing-secret.ts';

export interface CreateManagerOptions {
  readonly config: Config;
  readonly transport: Transport;
  readonly store: Pick<
    Store,
    | 'agentRevisions'
    | 'agentReleases'
    | 'calls'
    | 'releaseFigures'
    | 'database'
    | 'testRuns'
    | 'knowledge'
    | 'phoneRoutes'
    | 'numberClaims'
    | 'toolLists'
    | 'health'
  >;
  readonly jobs: Pick<JobStarter, 'ingest' | 'clearDocument' | 'clearCollection'>;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly metrics: OperatorMetrics;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly registry: Registry;
}

export function createManager(options: CreateManagerOptions): Manager {
  const { config, transport, store, events, metrics, clock, random, logger, registry } = options;
  const parts = createParts(options);
  const { clients, informers, organizations, namespaces, outage, snapshots, triggers } = parts;
  const shared = {
    events,
    adopt: createAdopter(transport, namespaces),
    isTerminating: (name: string) => organizations.cache.get(name)?.metadata.deletionTimestamp !== undefined,
    metrics,
    concurrency: config.PARLEY_RECONCILE_CONCURRENCY,
    referenceGraceMs: config.PARLEY_REFERENCE_GRACE_MS,
    clock,
    random,
    logger,
    registry,
  };
  const controller = <K extends KindName, A extends { readonly type: string }, S extends CommonStatus>(
    kind: K,
    reconciler: Reconciler<ObjectsByKind[K], A, S>,
    dependents: (change: Change<Stored<ObjectsByKind[K]>>) => readonly Trigger[],
  ): KindController => new Controller({ reconciler, informer: informers[kind], client: clients[kind], triggers: dependents, ...shared });
  const { lists, toolNamed, knownTests, addresses } = parts;
  const tools = toolReconciler({ snapshots, lists, toolNamed, tools: () => informers.Tool.cache.list(), logger });
  const subscriptions = webhookSubscriptionReconciler({
    snapshots,
    secrets: new SigningSecrets({ transport }),
    addressProblem: (url) => addresses.web(url),
  });
  const agentTests = agentTestReconciler({ snapshots, runs: store.testRuns, revisions: store.agentRevisions, outage, tests: knownTests });
  const controllers = [
    controller('Agent', wireAgents(options, parts), (change) => triggers.onAgent(change)),
    controller('Tool', tools, (change) => triggers.onTool(change)),
    controller('PhoneNumber', wirePhoneNumbers(options, parts), (change) => triggers.onPhoneNumber(change)),
    controller('KnowledgeBase', wireKnowledgeBases(options, parts), (change) => triggers.onKnowledgeBase(change)),
    controller('WebhookSubscription', subscriptions, (change) => triggers.onSubscription(change)),
    controller('AgentTest', agentTests, (change) => triggers.onAgentTest(change)),
  ];
  return new Manager({ controllers, organizations, namespaces, outage, triggers, clock, logger });
}

type Parts = ReturnType<typeof createParts>;

/** What the reconcilers share. */
function createParts({ config, transport, store, clock, logger, registry }: CreateManagerOptions) {
  const namespace = config.PARLEY_NAMESPACE;
  const clients = createClients(transport);
  const informers = createInformers(clients, { logger, registry, namespace });
  const organizations = createOrganizationInformer(transport, { logger, registry, namespace });
  const namespaces = new NamespaceInformers({ transport, clock, logger, registry });
  const outage = new PostgresOutage({ store, clock, logger });
  const objects = lookupsOf(informers, organizations);
  const addresses = createAddressChecks(config);
  const lists = new ToolListCache({ lists: store.toolLists, outage });
  const digestKeyOf = (name: string) => organizations.cache.get(name)?.metadata.uid ?? name;
  const reader = new KeyReader({ transport, clock, unusableKeys, digestKeyOf });
  namespaces.onChange((kind, change) => reader.saw(kind, change));
  const snapshots = new SnapshotReader({ objects, namespaces, reader, addresses, toolList: (tool) => lists.view(tool) });
  const triggers = new Triggers(informers);
  const knownTests = new KnownTests({
    informer: informers.AgentTest,
    client: new ResourceClient<KubeObject>({
      transport,
      descriptor: agentTestKind.descriptor,
      fieldManager: FIELD_MANAGER,
      metadataOnly: true,
    }),
    testsOf: (inNamespace, agent) => informers.AgentTest.cache.byIndex(INDEXES.references, referenceKey('Agent', inNamespace, agent)),
  });
  const toolNamed = (org: string, name: string) => informers.Tool.cache.get(`${org}/${name}`);
  return {
    clients,
    informers,
    organizations,
    namespaces,
    outage,
    objects,
    addresses,
    lists,
    reader,
    snapshots,
    knownTests,
    toolNamed,
    triggers,
  };
}

function wireAgents(
  { config, store, clock, logger, registry }: CreateManagerOptions,
  { informers, outage, lists, snapshots, knownTests, toolNamed }: Parts,
) {
  const metrics = new ReleaseMetrics({ registry, figures: store.releaseFigures, clock, logger });
  const revisions = new ServingRevisionCache({ store, outage, clock, metrics });
  return agentReconciler({
    snapshots,
    revisions,
    tests: knownTests,
    runs: store.testRuns,
    watchReleases: (callbacks) => watchReleases({ database: store.database, clock, logger, ...callbacks }),
    spending: store.calls.usage,
    pricesIn: config.PARLEY_PRICES[0]?.currency,
    deletionGraceMs: config.PARLEY_DELETION_GRACE_MS,
    lists,
    toolNamed,
    sweep: new Sweep({
      kind: 'Agent',
      informer: informers.Agent,
      idOf: keyOf,
      retireOthers: (living) => revisions.retireOthers(living, config.PARLEY_NAMESPACE),
      logger,
    }),
  });
}

function wirePhoneNumbers(options: CreateManagerOptions, { informers, objects, outage, reader, snapshots }: Parts) {
  const { config, transport, store, logger } = options;
  const claims = new NumberClaimCache({ store, outage, reservedMs: numberReservationMs(config) });
  return phoneNumberReconciler({
    snapshots,
    informer: informers.PhoneNumber,
    nativeNumbers: new NumberPool(config.PARLEY_NATIVE_NUMBERS),
    claims,
    reservations: new NumberReservations({
      informer: informers.PhoneNumber,
      withNumber: (number) => informers.PhoneNumber.cache.byIndex(INDEXES.number, number),
      claims,
      isOrganization: (name) => objects.isOrganization(name),
      namespace: config.PARLEY_NAMESPACE,
      logger,
    }),
    assignments: new NumberAssignments(config.PARLEY_NUMBER_ASSIGNMENTS),
    routes: new PhoneRouteCache({ store, outage }),
    passwords: new TrunkPasswords({ transport, reader }),
    deletionGraceMs: config.PARLEY_DELETION_GRACE_MS,
    mediaServer: mediaServerClients(options),
  });
}

function wireKnowledgeBases({ config, store, jobs, clock, logger }: CreateManagerOptions, { informers, outage, snapshots }: Parts) {
  const cache = new KnowledgeBaseCache({ store, outage, jobs });
  return knowledgeBaseReconciler({
    snapshots,
    cache,
    sweep: new Sweep({
      kind: 'KnowledgeBase',
      informer: informers.KnowledgeBase,
      idOf: ({ metadata }) => metadata.uid,
      retireOthers: (living) => cache.releaseOthers(living, config.PARLEY_NAMESPACE),
      logger,
    }),
    changes: store.knowledge,
    clock,
    profiles: config.PARLEY_EMBEDDING_PROFILES,
    rerankProfiles: config.PARLEY_RERANK_PROFILES,
    store: config.VECTOR_STORE_URL.startsWith('milvus') ? 'milvus' : 'pgvector',
    deletionGraceMs: config.PARLEY_DELETION_GRACE_MS,
  });
}

/** Undefined where no media server is configured. */
function mediaServerClients({ config, clock, logger }: CreateManagerOptions): MediaServerClients | undefined {
  const mediaServer = mediaServerOf(config);
  if (mediaServer === undefined) return undefined;
  const trunks = createSipTrunks(mediaServer);
  const cache = new TrunkCache({ trunks, clock, logger, pollMs: config.PARLEY_TRUNKS_LOOK_MS });
  return { cache, trunks, settings: trunkSettingsOf(config) };
}
