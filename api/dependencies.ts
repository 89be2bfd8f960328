/** What the facade needs from the outside. */
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

/** How much is too much. */
export interface Limits {
  readonly classes: readonly LimitClass[];
  /** Time between two exchanges with the other replicas, in milliseconds; 0 for none. */
  readonly exchangeMs: number;
  /** Longest time for one request, in milliseconds. */
  readonly requestTimeoutMs: number;
  /** What the provider `native` can be asked for. */
  readonly nativeNumbers: NumberPool;
  /** How long a number stays reserved for its organisation, in milliseconds. */
  readonly numberReservationMs: number;
  readonly numberAssignments: NumberAssignments;
  /** Addresses and networks of proxies that are believed when they say where a request comes from. */
  readonly trustedProxies: readonly string[];
}

/** What knowledge bases need in addition to their rows in the store. */
export interface KnowledgeDependencies {
  readonly files: Pick<FileStorage, 'put' | 'read' | 'delete'>;
  readonly jobs: Pick<KnowledgeJobs, 'ingest' | 'clearDocument' | 'clearCollection'>;
  readonly search: Search;
  /** That a KnowledgeBase can name. */
  readonly profiles: Config['PARLEY_EMBEDDING_PROFILES'];
  readonly rerankProfiles: Config['PARLEY_RERANK_PROFILES'];
}

/** What calls need in addition to their rows in the store. */
export interface CallDependencies {
  /** Undefined without a media server: no call can be made then. */
  readonly mediaServer: MediaServer | undefined;
  /** How many web calls of an organisation may wait for their users, in percent of its live calls; of one key half as many. */
  readonly unjoinedPercent: number;
  readonly recordings: Pick<FileStorage, 'read' | 'delete'>;
  /** Address of this API for clients; where it listens where undefined, which is of use on its own machine. */
  readonly publicUrl: string | undefined;
  /** Whether there is a page at `/call` to talk to agents from a browser. */
  readonly page: boolean;
}

/** What every kind of resource needs. */
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
  /** What `/metrics` asks for; absent, it answers everyone. */
  readonly metricsToken?: string | undefined;
  readonly clock: Clock;
  /** 0 ≤ x < 1, for waiting times. Names and keys come from the system's own source of randomness. */
  readonly random: () => number;
  /** The same on every replica: page tokens and addresses of recordings are signed with them. */
  readonly signing: SigningKeys;
  readonly limits: Limits;
  /** As shipped where absent. */
  readonly kubernetesTimeouts?: KubernetesTimeouts | undefined;
  /** Says of an address at once whether it may be called. */
  readonly addresses: AddressChecks;
  /** The only namespace to look at, which is the only organisation then; all of them where undefined. */
  readonly namespace?: string | undefined;
}

/** @returns why the object is or isn't in use; undefined for one that isn't there */
export type ExplainObject = (object: {
  readonly kind: KindDefinition;
  readonly org: string;
  readonly name: string;
}) => Promise<ExplanationAnswer | undefined>;

export interface ApiDependencies extends ResourceDependencies {
  readonly knowledge: KnowledgeDependencies;
  readonly calls: CallDependencies;
  /** Made of the operator's checks, which the facade doesn't know. */
  readonly explain: ExplainObject;
  /** Whether assistants are served at `/mcp`. */
  readonly mcp: boolean;
}
