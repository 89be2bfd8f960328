/** Opens Postgres as one object with a method for each need of a role, and no SQL. */
import type { Registry } from 'prom-client';

import { systemClock, type Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logging.ts';
import { AgentRevisions } from './agent-revisions.ts';
import { TestRuns } from './agent-tests/test-runs.ts';
import { ApiKeys, REVOKED_CHANNEL } from './api-keys.ts';
import { Authenticator, type Authentication } from './authenticator.ts';
import { ChannelListener } from './channel-listener.ts';
import { Database, type DatabaseOptions } from './database.ts';
import { DynamicDataCacheRows } from './dynamic-data-cache.ts';
import { IdempotentRequests } from './idempotent-requests.ts';
import { registerStoreMetrics } from './metrics.ts';
import { Organizations } from './organizations.ts';
import { createCallStore, type CallStore } from './calls/index.ts';
import { createKnowledgeStore, type KnowledgeStore } from './knowledge/index.ts';
import { NumberClaims } from './phone-numbers/number-claims.ts';
import { PhoneRoutes } from './phone-numbers/phone-routes.ts';
import { RateLimits } from './rate-limits.ts';
import { AgentReleases } from './releases/agent-releases.ts';
import { AgentReleaseFigures } from './releases/release-figures.ts';
import { AgentReleaseHistory } from './releases/release-history.ts';
import { StoreError } from './error.ts';
import { requireSchema } from './schema-version.ts';
import { ToolLists } from './tool-lists.ts';
import { VoiceServers } from './voice-servers.ts';
import { createWebhookStore } from './webhooks/create-webhook-store.ts';
import type { WebhookStore } from './webhooks/webhook-store.ts';

export type {
  AgentResult,
  RequestedTest,
  StoredVerdict,
  TestEvidence,
  TestResultRecord,
  TestResultSummary,
  TestRunRecord,
} from './agent-tests/test-run-record.ts';
export { isUserId, type ApiKeyPosition, type ApiKeyRecord, type ListedApiKey } from './api-keys.ts';
export type { NumberClaim, NumberOwner } from './phone-numbers/number-claims.ts';
export type { PhoneRoute, PhoneRoutes } from './phone-numbers/phone-routes.ts';
export type { AnalysisError, AnalysisResult as AnalysisItem, AnalysisOutcome, AnalysisRecord, AnalysisValue } from './calls/analyses.ts';
export type { ServingRevision } from './agent-revisions.ts';
export type { CallAgent, CallRecord, CallRef, NewCall, TestOfCall } from './calls/call-record.ts';
export type { CallLogRows, CallMessage, CallToolCall, CallTurn, LoggedRow } from './calls/call-log.ts';
export type { LiveEvent } from './calls/live-events.ts';
export { commandKinds, commandStatuses, newCommandId, type CommandKind, type CommandRecord, type CommandRef } from './calls/commands.ts';
export type { UsageGroup, UsageGrouping } from './calls/usage-sums.ts';
export type { CallUsageRows, Cost, UsageLine } from './calls/usage.ts';
export type { ErasedPerson, Erasure } from './calls/erasures.ts';
export type { OverdueLimits } from './calls/overdue.ts';
export { finishReasons, type FinishReason } from '../platform/finish-reasons.ts';
export { callStatuses, isTerminal, terminalStatusOf } from './calls/call-state.ts';
export { newCallId } from './calls/calls.ts';
export type { IdempotentRequest, IdempotentRequests } from './idempotent-requests.ts';
export type { UnjoinedLimit } from './calls/unjoined-calls.ts';
export type { CallStore } from './calls/index.ts';
export type { Collection, CollectionSpec } from './knowledge/collections.ts';
export { newDocumentId, type DocumentRecord, type DocumentStage, type NewDocument, type PageOutcome } from './knowledge/documents.ts';
export type { EndedDocument, StoredChunk } from './knowledge/ingestion.ts';
export type { KnowledgeStore } from './knowledge/index.ts';
export type { ReleasedAgent } from './releases/agent-releases.ts';
export type { ReleaseFigures } from './releases/release-figures.ts';
export type { RevisionSummary } from './releases/release-history.ts';
export { isSame, mayRetry, type ReleaseChange, type ReleaseState, type ServingBudget } from './releases/release-state.ts';
export { hasAnyOf, type RevisionParts } from './releases/revision-parts.ts';
export { watchReleases, type WatchReleasesOptions } from './releases/watch-releases.ts';
export { StoreError } from './error.ts';
export type { DueToolList, ToolListRecord, ToolLists } from './tool-lists.ts';
export { deliveryIdOf } from './webhooks/delivery-id.ts';
export type { DispatchStore, KeepDays } from './webhooks/dispatch.ts';
export type { PlaceTaken } from './voice-servers.ts';
export { insertEvents } from './webhooks/events.ts';
export {
  liveStates,
  type AttemptRecord,
  type AttemptResult,
  type BreakerChange,
  type ClaimedDelivery,
  type DeliveryCounts,
  type DeliveryRecord,
  type DeliveryState,
  type Disabling,
  type EndpointRecord,
  type NewEvent,
  type EventRecord,
  type NextStep,
  type OutboxEvent,
  type RelayDecision,
  type RelayResult,
} from './webhooks/types.ts';
export { watchOutbox } from './webhooks/watch-outbox.ts';
export { openDispatchStore, type DispatchStoreOptions } from './webhooks/open-dispatch-store.ts';
export type { WebhookStore } from './webhooks/webhook-store.ts';
export { watchHealth } from './watch-health.ts';
export { describeDatabase, finishRestore, prepareRestore } from './backup-database.ts';
export { loadRows, saveRows, type RowsOfTable } from './backup-rows.ts';
export { bringBackRows, type PartOfBackup, type RowsBroughtBack } from './bring-back.ts';
export { countOrganizationRows, removeOrganizationRows, revokeOrganizationKeys, type RowsOfOrganization } from './leaving-organization.ts';
export { migrate, migrationStatus } from './migrate.ts';
export { readMigrations } from './migration-files.ts';
export { covers, isPermission, permissions, type Permission } from './permissions.ts';

export interface StoreOptions extends DatabaseOptions {
  readonly clock?: Clock | undefined;
  readonly logger?: Logger | undefined;
  /** Registry of the pool's metrics. */
  readonly registry?: Registry | undefined;
}

/**
 * How long an answer about an API key is used, in milliseconds: a revocation whose notification is lost takes effect within 5 s, the query
 * included.
 */
const KEY_CACHE_MS = 4_000;

/** API keys, with the check of a presented one. */
interface ApiKeyStore extends Pick<ApiKeys, 'create' | 'list' | 'get' | 'revoke' | 'revokeWithDescendants' | 'purge'> {
  /** @throws StoreError when Postgres doesn't answer: the key may still be valid */
  authenticate(apiKey: string): Promise<Authentication>;
}

export interface Store {
  readonly organizations: Organizations;
  readonly apiKeys: ApiKeyStore;
  readonly agentRevisions: AgentRevisions;
  readonly testRuns: TestRuns;
  readonly agentReleases: AgentReleases;
  readonly releaseHistory: AgentReleaseHistory;
  readonly releaseFigures: AgentReleaseFigures;
  readonly rateLimits: RateLimits;
  readonly knowledge: KnowledgeStore;
  readonly webhooks: WebhookStore;
  readonly calls: CallStore;
  readonly phoneRoutes: PhoneRoutes;
  readonly numberClaims: NumberClaims;
  readonly dynamicDataCache: DynamicDataCacheRows;
  readonly idempotentRequests: IdempotentRequests;
  readonly toolLists: ToolLists;
  readonly voiceServers: VoiceServers;
  /** Returns the secret that the api signs with: 32 random bytes, made with the database. @throws StoreError */
  signingSecret(): Promise<Uint8Array>;
  /** The database itself, for vectors, which have their own tables in it. */
  readonly database: Database;
  /** @throws StoreError `unavailable`, `refused`, or `schema` when migrations are missing */
  health(): Promise<void>;
  close(): Promise<void>;
}

/** Connects when it is first used: opening never fails for want of a server. */
export function openStore(options: StoreOptions): Store {
  const clock = options.clock ?? systemClock;
  const database = new Database(options);
  const keys = new ApiKeys(database);
  const listener = new ChannelListener({
    database,
    channel: REVOKED_CHANNEL,
    words: { what: 'revoked API keys', meanwhile: 'keys are asked for again every few seconds meanwhile' },
    clock,
    logger: options.logger,
    onMessage: () => authenticator.forget(),
    onListening: () => authenticator.forget(),
  });
  const authenticator: Authenticator = new Authenticator({
    database,
    clock,
    ttlMs: KEY_CACHE_MS,
    onFirstUse: () => listener.start(),
  });
  if (options.registry !== undefined) registerStoreMetrics(options.registry, database);

  return {
    organizations: new Organizations(database),
    agentRevisions: new AgentRevisions(database),
    testRuns: new TestRuns(database, { clock, logger: options.logger }),
    agentReleases: new AgentReleases(database),
    releaseHistory: new AgentReleaseHistory(database),
    releaseFigures: new AgentReleaseFigures(database),
    rateLimits: new RateLimits(database),
    knowledge: createKnowledgeStore(database, { clock, logger: options.logger }),
    webhooks: createWebhookStore(database),
    calls: createCallStore(database),
    dynamicDataCache: new DynamicDataCacheRows(database),
    idempotentRequests: new IdempotentRequests(database),
    phoneRoutes: new PhoneRoutes(database),
    numberClaims: new NumberClaims(database),
    toolLists: new ToolLists(database, { clock, logger: options.logger }),
    voiceServers: new VoiceServers(database),
    database,
    apiKeys: {
      create: (key) => keys.create(key),
      list: (page) => keys.list(page),
      get: (ref) => keys.get(ref),
      // The process that revokes a key doesn't wait for its own notification.
      revoke: (ref) => keys.revoke(ref).finally(() => authenticator.forget()),
      revokeWithDescendants: (ref) => keys.revokeWithDescendants(ref).finally(() => authenticator.forget()),
      purge: (what) => keys.purge(what),
      authenticate: (apiKey) => authenticator.authenticate(apiKey),
    },
    async signingSecret() {
      const [row] = await database.query<{ readonly secret: Buffer | null }>('SELECT parley.signing_secret() AS secret');
      if (row?.secret == null) throw new StoreError('internal', 'the row of parley.signing_secret is missing: set PARLEY_SIGNING_SECRETS');
      return row.secret;
    },
    health: () => requireSchema(database),
    async close() {
      await listener.stop();
      await database.close();
    },
  };
}
