/** Lists what the facade needs from the outside. */
import type { Registry } from 'prom-client';

import type { AddressChecks } from '../calls/address-checks.ts';
import type { MediaServer } from '../calls/media-server.ts';
import type { KnowledgeJobs } from '../knowledge/jobs/jobs.ts';
import type { Search } from '../knowledge/search/search.ts';
import type { FileStorage } from '../knowledge/storage/file-storage.ts';
import type { Transport } from '../kube/transport.ts';
import type { Clock } from '../platform/clock.ts';
import type { Config } from '../platform/config/config.ts';
import type { Readiness } from '../platform/lifecycle.ts';
import type { Logger } from '../platform/logging.ts';
import type { NumberAssignments, NumberPool } from '../platform/config/phone-numbers.ts';
import type { Store } from '../store/index.ts';
import type { KindDefinition } from '../crds/index.ts';
import type { ExplanationAnswer } from './explain/answers.ts';
import type { LimitClass } from './limits/limit-class.ts';
import type { KubernetesTimeouts } from './resources/kubernetes-timeouts.ts';
import type { SigningKeys } from './signing/signing-keys.ts';

export interface Limits {
  readonly classes: readonly LimitClass[];
  /** Time between two exchanges with the other replicas, in milliseconds; 0 for none. */
  readonly exchangeMs: number;
  /** Longest time for one request, in milliseconds. */
  readonly requestTimeoutMs: number;
  readonly nativeNumbers: NumberPool;
  /** Time that a number stays reserved for its organisation, in milliseconds. */
  readonly numberReservationMs: number;
  readonly numberAssignments: NumberAssignments;
  /** Addresses and networks of proxies whose word is taken for where a request comes from. */
  readonly trustedProxies: readonly string[];
}

/** Dependencies of knowledge bases beside their rows in the store. */
export interface KnowledgeDependencies {
  readonly files: Pick<FileStorage, 'put' | 'read' | 'delete'>;
  readonly jobs: Pick<KnowledgeJobs, 'ingest' | 'clearDocument' | 'clearCollection'>;
  readonly search: Search;
  readonly profiles: Config['PARLEY_EMBEDDING_PROFILES'];
  readonly rerankProfiles: Config['PARLEY_RERANK_PROFILES'];
}

export interface CallDependencies {
  /** Undefined without a media server: no call can be made then. */
  readonly mediaServer: MediaServer | undefined;
  /** Web calls of an organisation that may wait for their users, in percent of its live calls; half as many of one key. */
  readonly unjoinedPercent: number;
  readonly recordings: Pick<FileStorage, 'read' | 'delete'>;
  /** Address of this API for clients; the address at which it listens where undefined, which is of use on its own machine only. */
  readonly publicUrl: string | undefined;
  /** Whether `/call` serves a page to talk to agents from a browser. */
  readonly page: boolean;
}

export interface ResourceDependencies {
  readonly store: Pick<
    Store,
    | 'apiKeys'
    | 'organizations'
    | 'idempotentRequests'
    | 'rateLimits'
    | 'knowledge'
    | 'webhooks'
    | 'calls'
    | 'phoneRoutes'
    | 'voiceServers'
    | 'numberClaims'
    | 'testRuns'
    | 'agentRevisions'
    | 'agentReleases'
    | 'releaseHistory'
    | 'releaseFigures'
    | 'health'
  >;
  readonly transport: Transport;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly readiness: Readiness;
  /** Token that `/metrics` requires; without it everyone gets an answer. */
  readonly metricsToken?: string | undefined;
  readonly clock: Clock;
  /** Returns 0 ≤ x < 1, for waiting times. Names and keys come from the system's own source of randomness. */
  readonly random: () => number;
  /** Keys, the same on every replica, that sign page tokens and addresses of recordings. */
  readonly signing: SigningKeys;
  readonly limits: Limits;
  /** Timeouts for the API server; those that Parley ships with where absent. */
  readonly kubernetesTimeouts?: KubernetesTimeouts | undefined;
  readonly addresses: AddressChecks;
  /** The only namespace that is used, which is the only organisation then; all of them where undefined. */
  readonly namespace?: string | undefined;
}

/** @returns why the object is or isn't in use; undefined for an object that doesn't exist */
export type ExplainObject = (object: {
  readonly kind: KindDefinition;
  readonly org: string;
  readonly name: string;
}) => Promise<ExplanationAnswer | undefined>;

export interface ApiDependencies extends ResourceDependencies {
  readonly knowledge: KnowledgeDependencies;
  readonly calls: CallDependencies;
  /** Explains an object with the operator's checks, which the facade doesn't know. */
  readonly explain: ExplainObject;
  readonly mcp: boolean;
}
