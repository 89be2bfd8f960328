/**
 * Simulates the operator without a cluster: objects in memory, the real plans, and actions that take effect at once. Property tests run it
 * over every status a plan can give.
 */
import type { Agent, AgentTest, KnowledgeBase, PhoneNumber, Tool, WebhookSubscription } from '../../crds/index.ts';
import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import { planAgent, type AgentAction, type Serving, type StoreView } from '../../operator/agent/plan.ts';
import { planAgentTest } from '../../operator/agent-test/plan.ts';
import type { RequestRun } from '../../operator/agent-test/schedule.ts';
import { planKnowledgeBase, type KnowledgeBaseAction } from '../../operator/knowledge-base/plan.ts';
import type { KnowledgeView, KnownCollection, SourceDocument } from '../../operator/knowledge-base/view.ts';
import type { OwnershipFacts } from '../../operator/phone-number/ownership.ts';
import { planPhoneNumber, type PhoneNumberAction, type Telephony } from '../../operator/phone-number/plan.ts';
import type { RouteView } from '../../operator/phone-number/view.ts';
import type { SipThing } from '../../calls/sip/trunks.ts';
import type { CollectionSpec, NumberClaim, PhoneRoute, TestEvidence } from '../../store/index.ts';
import { memorySnapshot, type DataEntry } from '../../operator/references/memory-snapshot.ts';
import type { ParleyObject } from '../../operator/references/references-of.ts';
import type { ClusterSnapshot } from '../../operator/references/cluster-snapshot.ts';
import type { FinalizerAction, Plan } from '../../operator/runtime/reconciler.ts';
import type { ToolAction } from '../../operator/tool/mcp-plan.ts';
import { planTool } from '../../operator/tool/plan.ts';
import { NumberPool } from '../../platform/config/phone-numbers.ts';
import { idOf, type Thing } from './arbitrary-things.ts';
import { planWebhookSubscription, type SigningSecretAction } from '../../operator/webhook-subscription/plan.ts';

const nativeNumbers = new NumberPool('');

type SimulatedAction =
  | FinalizerAction
  | AgentAction
  | RequestRun
  | SigningSecretAction
  | KnowledgeBaseAction
  | PhoneNumberAction
  | ToolAction;

export class SimulatedOperator {
  readonly objects = new Map<string, ParleyObject>();
  readonly #keyed = new Map<string, Thing & { readonly type: 'Secret' | 'ConfigMap' }>();
  readonly serving = new Map<string, Serving & { readonly config: AgentRevisionConfig }>();
  /** Evidence by uid of the agent. Every test passes at once. */
  readonly #evidence = new Map<string, TestEvidence[]>();
  readonly #refused = new Map<string, CollectionSpec>();
  readonly #collections = new Map<string, { readonly collection: KnownCollection; readonly documents: SourceDocument[] }>();
  readonly trunks = new Map<string, SipThing>();
  readonly routes = new Map<string, PhoneRoute>();
  readonly #claims = new Map<string, NumberClaim>();
  storeAvailable = true;
  mediaServer: 'none' | 'available' | 'unavailable' | 'without_redis' = 'available';
  now = Date.parse('2026-06-01T00:00:00Z');

  arrive(thing: Thing): void {
    if (thing.type === 'object') this.objects.set(idOf(thing), thing.object);
    else this.#keyed.set(idOf(thing), thing);
  }

  /** Removes an object without a trace, like one that `kubectl delete` has taken away for good. */
  leave(id: string): void {
    this.objects.delete(id);
    this.#keyed.delete(id);
  }

  /** Reconciles one object to the end. @returns whether its status changed */
  reconcile(id: string): boolean {
    for (let round = 0; round < 5; round += 1) {
      const object = this.objects.get(id);
      if (object === undefined) return false;
      const plan = this.plan(object);
      if (plan.actions.length === 0) {
        if (plan.status === undefined) return false;
        const changed = JSON.stringify(plan.status) !== JSON.stringify(object.status);
        this.objects.set(id, { ...object, status: plan.status });
        return changed;
      }
      for (const action of plan.actions) this.#apply(id, action);
    }
    throw new Error(`${id}: ever new actions`);
  }

  /** Reconciles everything until nothing changes. */
  settle(): void {
    for (let round = 0; round < 10; round += 1) {
      if (![...this.objects.keys()].map((id) => this.reconcile(id)).some((changed) => changed)) return;
    }
    throw new Error('it never settles');
  }

  plan(object: ParleyObject): Plan<SimulatedAction, object & Pick<NonNullable<Agent['status']>, 'conditions' | 'observedGeneration'>> {
    const { now } = this;
    const snapshot = this.snapshot();
    switch (object.kind) {
      case 'Agent':
        return planAgent(object as Agent, snapshot, this.#store(object as Agent), { now, deletionGraceMs: 1_000 });
      case 'Tool':
        return planTool(object as Tool, snapshot, now);
      case 'AgentTest':
        return planAgentTest(
          object as AgentTest,
          snapshot,
          this.storeAvailable ? { state: 'known', results: [] } : { state: 'unavailable', why: 'Postgres does not answer' },
          now,
        );
      case 'PhoneNumber':
        return planPhoneNumber(object as PhoneNumber, snapshot, {
          now,
          nativeNumbers,
          ownership: this.#ownership(object as PhoneNumber),
          deletionGraceMs: 1_000,
          route: this.#route(object as PhoneNumber),
          ...(this.mediaServer !== 'none' && { telephony: this.#telephony(object as PhoneNumber) }),
        });
      case 'KnowledgeBase':
        return planKnowledgeBase(object as KnowledgeBase, snapshot, this.#knowledge(object), {
          now,
          profiles: [
            { name: 'default', model: 'bm25', dimension: 0 },
            // Postgres won't have this one: it names another model than what is there.
            { name: 'other', model: 'e5', dimension: 384 },
          ],
          rerankProfiles: [],
          store: 'pgvector',
          deletionGraceMs: 1_000,
        });
      default:
        return planWebhookSubscription(object as WebhookSubscription, snapshot, { now, addressProblem: () => undefined });
    }
  }

  snapshot(): ClusterSnapshot {
    const of = <T>(kind: string): T[] => [...this.objects.values()].filter((object) => object.kind === kind) as T[];
    const keyed = (type: string): DataEntry[] => [...this.#keyed.values()].flatMap((thing) => (thing.type === type ? [thing.entry] : []));
    return memorySnapshot({
      organizations: ['acme', 'globex'],
      agents: of('Agent'),
      tools: of('Tool'),
      agentTests: of('AgentTest'),
      phoneNumbers: of('PhoneNumber'),
      knowledgeBases: of('KnowledgeBase'),
      subscriptions: of('WebhookSubscription'),
      secrets: keyed('Secret'),
      configMaps: keyed('ConfigMap'),
    });
  }

  #store(agent: Agent): StoreView {
    if (!this.storeAvailable) return { state: 'unavailable', why: 'Postgres does not answer' };
    const found = this.serving.get(agent.metadata.uid ?? '');
    const evidence = this.#evidence.get(agent.metadata.uid ?? '') ?? [];
    if (found === undefined) return { state: 'known', evidence };
    const { revision, since } = found;
    return { state: 'known', evidence, serving: { revision, since } };
  }

  #ownership({ spec }: PhoneNumber): OwnershipFacts {
    if (!this.storeAvailable) return { claim: { state: 'unavailable', why: 'Postgres does not answer' } };
    const claim = this.#claims.get(spec.number);
    return { claim: { state: 'known', ...(claim && { claim }) } };
  }

  #route({ metadata }: PhoneNumber): RouteView {
    if (!this.storeAvailable) return { state: 'unavailable', why: 'Postgres does not answer' };
    const written = this.routes.get(metadata.uid ?? '');
    return { state: 'known', ...(written && { written }) };
  }

  #telephony({ metadata, spec }: PhoneNumber): Telephony {
    const { uid = '', namespace = '' } = metadata;
    const all = [...this.trunks.values()];
    const sip = {
      none: { state: 'known', own: [], others: [] },
      available: {
        state: 'known',
        own: all.filter((thing) => thing.uid === uid),
        others: all.filter((thing) => thing.uid !== uid && thing.number === spec.number),
      },
      unavailable: { state: 'unavailable', why: 'it cannot be reached', login: false },
      without_redis: { state: 'without_redis' },
    } as const;
    return {
      sip: sip[this.mediaServer],
      settings: { allowedAddresses: [] },
      password: this.#passwordOf(namespace, spec),
      digest: JSON.stringify,
    };
  }

  #passwordOf(namespace: string, { sip }: PhoneNumber['spec']): string | undefined {
    const ref = sip?.passwordSecretRef;
    const found = ref && this.snapshot().secret(namespace, ref.name);
    return found?.state === 'present' && found.keys.has(ref?.key ?? '') ? 'secret' : undefined;
  }

  #knowledge({ metadata }: ParleyObject): KnowledgeView {
    if (!this.storeAvailable) return { state: 'unavailable', why: 'Postgres does not answer' };
    const found = this.#collections.get(metadata.uid ?? '');
    const refused = this.#refused.get(metadata.uid ?? '');
    const sourceDocuments = found?.documents ?? [];
    const completed = sourceDocuments.length;
    return {
      state: 'known',
      ...(found && {
        collection: found.collection,
        documents: { total: completed, processing: 0, completed, failed: 0 },
        chunks: completed,
      }),
      sourceDocuments,
      ...(refused && { conflict: { spec: refused, message: 'vectors of two models cannot be mixed' } }),
    };
  }

  #apply(id: string, action: SimulatedAction): void {
    const object = this.objects.get(id)!;
    switch (action.type) {
      case 'claim': {
        const { namespace: org = '', uid = '' } = object.metadata;
        this.#claims.set((object as PhoneNumber).spec.number, { org, uid, expired: false });
        break;
      }
      case 'addFinalizer':
        this.objects.set(id, { ...object, metadata: { ...object.metadata, finalizers: ['parley.dev/finalizer'] } });
        break;
      case 'requestList':
      case 'acceptList':
        throw new Error('the simulation has no MCP servers');
      case 'requestRun':
        throw new Error('the simulation has no schedules');
      case 'adopt':
        throw new Error('the simulation restores nothing');
      case 'budget':
        throw new Error('the simulation has no budgets');
      case 'release':
        throw new Error('the simulation has no canaries and no rollbacks');
      case 'serve':
        if (action.config === undefined) throw new Error('the simulation stores no revisions that a pin could name');
        this.serving.set(object.metadata.uid ?? '', {
          revision: action.revision,
          since: new Date(this.now).toISOString(),
          config: action.config,
        });
        break;
      case 'test': {
        const { uid = '' } = object.metadata;
        const newest = { verdict: 'passed', message: null, runId: 'run', finishedAt: new Date(this.now), errors: 0 } as const;
        const evidence = action.tests.map(({ name: testName, digest }) => ({ configHash: action.configHash, testName, digest, newest }));
        this.#evidence.set(uid, [...(this.#evidence.get(uid) ?? []), ...evidence]);
        break;
      }
      case 'retire':
        this.serving.delete(object.metadata.uid ?? '');
        break;
      case 'dropFinalizer':
        if (object.metadata.deletionTimestamp === undefined)
          this.objects.set(id, { ...object, metadata: { ...object.metadata, finalizers: [] } });
        else this.objects.delete(id);
        break;
      case 'create':
      case 'replace': {
        const { uid = '' } = object.metadata;
        const { number, deletionPolicy } = (object as PhoneNumber).spec;
        // A number has one trunk, as at the media server.
        const rival = [...this.trunks.values()].find((thing) => thing.kind === 'inbound' && thing.number === number && thing.uid !== uid);
        if (action.spec.kind === 'inbound' && action.type === 'create' && rival !== undefined) throw new Error('conflicting trunks');
        const thingId = action.type === 'create' ? `${action.spec.kind}-${uid}` : action.id;
        this.trunks.set(thingId, { kind: action.spec.kind, id: thingId, uid, number, deletionPolicy, digest: JSON.stringify(action.spec) });
        break;
      }
      case 'remove':
        this.trunks.delete(action.thing.id);
        break;
      case 'writeRoute':
        this.routes.set(action.route.uid, action.route);
        break;
      case 'removeRoute':
        this.routes.delete(object.metadata.uid ?? '');
        break;
      case 'ensureCollection': {
        const { org: _org, name: _name, profile, ...spec } = action.spec;
        if (profile === 'other') this.#refused.set(spec.uid, action.spec);
        else this.#collections.set(spec.uid, { collection: { id: `col-${spec.uid}`, ...spec }, documents: [] });
        break;
      }
      case 'ingest': {
        const { source, sourceRevision: revision } = action.document;
        this.#collections.get(object.metadata.uid ?? '')?.documents.push({
          id: `doc-${revision.slice(0, 40)}`,
          source,
          revision,
          status: 'completed',
          queued: false,
          errorCode: null,
          message: '',
          progressAt: this.now,
        });
        break;
      }
      case 'discard':
      case 'deleteCollection':
      case 'releaseCollection':
      case 'removeSigningKeys':
        throw new Error(`nothing here is ever taken away: ${action.type}`);
      case 'generateSigningSecret': {
        const namespace = object.metadata.namespace ?? '';
        this.arrive({
          type: 'Secret',
          entry: {
            namespace,
            name: action.name,
            uid: 'generated',
            resourceVersion: '1',
            keys: ['current'],
            owners: [object.metadata.uid ?? ''],
          },
        });
      }
    }
  }
}
