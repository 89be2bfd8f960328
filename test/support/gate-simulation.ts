/**
 * Simulates one agent, its tests and the operator's own reconciler around a cluster and a Postgres in memory. Every step of a reconcile
 * can be the last before the process dies, watches lag, and whatever goes into service is compared with the truth at that moment.
 */
import pino from 'pino';
import { Registry } from 'prom-client';

import { agentKind, API_VERSION, wellKnown, type Agent, type AgentTest, type Tool } from '../../crds/index.ts';
import { testDigest } from '../../crds/requested-test.ts';
import type { Stored } from '../../kube/index.ts';
import { KnownTests } from '../../operator/agent-test/known-tests.ts';
import { agentReconciler } from '../../operator/agent/reconciler.ts';
import { ReleaseMetrics } from '../../operator/agent/release-metrics.ts';
import { ServingRevisionCache } from '../../operator/agent/serving-revision-cache.ts';
import { memorySnapshot } from '../../operator/references/memory-snapshot.ts';
import { PostgresOutage } from '../../operator/runtime/postgres-outage.ts';
import type { ReconcileContext } from '../../operator/runtime/reconciler.ts';
import { UnsettledError } from '../../operator/runtime/unsettled-error.ts';
import type { SnapshotReader } from '../../operator/runtime/snapshot-reader.ts';
import { storedObject } from './arbitrary-things.ts';
import { FakeClock } from './fake-clock.ts';
import { SimulatedGateStore } from './simulated-gate-store.ts';

const logger = pino({ level: 'silent' });

export interface Served {
  /** How the revision got into service; `unchanged` means that its configuration served already, under another version of a Secret. */
  readonly how: 'tested' | 'untested' | 'unchanged' | 'skipped';
}

export class GateSimulation {
  readonly clock = new FakeClock({ now: Date.UTC(2026, 0, 1) });
  readonly store = new SimulatedGateStore(
    () => this.clock.now(),
    (revision) => this.#check(revision),
  );
  readonly served: Served[] = [];
  /** The agent as it truly is. */
  agent: Stored<Agent>;
  readonly tests = new Map<string, Stored<AgentTest>>();
  secretVersion = 1;
  /** True while the Secret of a tool exists; the agent goes on without the tool otherwise. */
  toolKey = true;
  /** The agent as the watches have brought it. */
  #seenAgent: Stored<Agent>;
  #seenTests: readonly Stored<AgentTest>[] = [];
  #version = 1;
  #reconciler: ReturnType<typeof agentReconciler>;
  #outage: PostgresOutage;
  /** The reconcile that is under way. */
  #work: AsyncGenerator<void> | undefined;
  #planned: Stored<Agent>;

  constructor() {
    const llm = { model: 'm', systemPrompt: 'p0', apiKeySecretRef: { name: 'keys', key: 'k' } };
    const spec = { llm, speechToText: { provider: 'deepgram' }, textToSpeech: { provider: 'elevenlabs' } };
    this.agent = storedObject('Agent', 'desk', spec) as Stored<Agent>;
    this.#seenAgent = this.agent;
    this.#planned = this.agent;
    ({ reconciler: this.#reconciler, outage: this.#outage } = this.#start());
  }

  editPrompt(version: number): void {
    const { spec, metadata } = this.agent;
    const next = { ...spec, llm: { ...spec.llm, systemPrompt: `p${version}` } };
    if (spec.llm.systemPrompt === next.llm.systemPrompt) return;
    this.#write({ ...this.agent, spec: next, metadata: { ...metadata, generation: (metadata.generation ?? 0) + 1 } });
  }

  /** Skips the tests of the revision that the status says is asked for, or of none. */
  skip(reason: string | undefined): void {
    const { spec, metadata, status } = this.agent;
    const { release: _release, ...others } = spec;
    const revision = status?.desiredRevision;
    const next = reason === undefined || revision === undefined ? others : { ...others, release: { skipTests: { revision, reason } } };
    this.#write({ ...this.agent, spec: next, metadata: { ...metadata, generation: (metadata.generation ?? 0) + 1 } });
  }

  putTest(
    name: string,
    { wording, ...fields }: { wording: number; required: boolean; suspend: boolean; named: boolean; sound: boolean },
  ): void {
    const before = this.tests.get(name);
    const spec = {
      agentRefs: [{ name: fields.named ? 'desk' : 'other' }],
      required: fields.required,
      ...(fields.suspend && { suspend: true }),
      type: 'Conversation',
      conversation: [{ type: 'User', user: `w${wording}`, expect: [{ type: 'Answer', answer: { matches: fields.sound ? 'x' : '(' } }] }],
    };
    this.#version += 1;
    const uid = before?.metadata.uid ?? `uid-${name}-${this.#version}`;
    const metadata = { uid, generation: (before?.metadata.generation ?? 0) + 1, resourceVersion: String(this.#version) };
    this.tests.set(name, storedObject('AgentTest', name, spec, { metadata }) as Stored<AgentTest>);
  }

  /** Lets the watch of agents, or that of tests, catch up. */
  catchUp(kind: 'Agent' | 'AgentTest'): void {
    if (kind === 'Agent') this.#seenAgent = this.agent;
    else this.#seenTests = [...this.tests.values()];
  }

  /** Kills the process, whatever it was doing; another one reads everything again. */
  kill(): void {
    this.#work = undefined;
    this.#outage.close();
    this.catchUp('Agent');
    this.catchUp('AgentTest');
    ({ reconciler: this.#reconciler, outage: this.#outage } = this.#start());
  }

  /** Makes one more step of the reconcile, or begins a new one where none is under way. @returns whether it is over */
  async step(): Promise<boolean> {
    this.#work ??= this.#reconcile();
    const { done = false } = await this.#work.next();
    if (done) this.#work = undefined;
    return done;
  }

  async reconcile(): Promise<void> {
    while (!(await this.step()));
  }

  /** Heals everything and updates all watches; every test that is asked for gets the verdict. */
  async settle(verdict: 'passed' | 'failed'): Promise<void> {
    this.store.available = true;
    this.store.failure = undefined;
    this.toolKey = true;
    for (let round = 0; round < 8; round += 1) {
      this.clock.tick(3_600_001);
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      this.catchUp('Agent');
      this.catchUp('AgentTest');
      await this.reconcile();
      for (const one of this.store.pending) this.store.record(one, verdict);
    }
  }

  get required(): readonly Stored<AgentTest>[] {
    return [...this.tests.values()].filter(({ spec }) => spec.required && spec.agentRefs.some(({ name }) => name === 'desk'));
  }

  #start() {
    const { clock } = this;
    const store = this.store.asStore();
    const outage = new PostgresOutage({ store, clock, logger });
    const tests = new KnownTests({
      informer: {
        cache: {
          list: () => this.#seenTests,
          get: (key: string) => this.#seenTests.find(({ metadata }) => `acme/${metadata.name}` === key),
        },
      } as never,
      client: { listAll: () => Promise.resolve({ items: [...this.tests.values()], resourceVersion: '1' }) },
      testsOf: (_namespace, agent) => this.#seenTests.filter(({ spec }) => spec.agentRefs.some(({ name }) => name === agent)),
    });
    const snapshots = { observe: () => Promise.resolve({ snapshot: this.#snapshot() }) } as unknown as SnapshotReader;
    const metrics = new ReleaseMetrics({ registry: new Registry(), figures: store.releaseFigures, clock, logger });
    const revisions = new ServingRevisionCache({ store, outage, clock, metrics });
    const reconciler = agentReconciler({
      snapshots,
      revisions,
      tests,
      runs: { listen: () => ({ stop: () => Promise.resolve() }) },
      watchReleases: () => ({ stop: () => Promise.resolve() }),
      spending: { spentSince: () => Promise.resolve(0n) },
      deletionGraceMs: 1,
      lists: {
        read: () => Promise.resolve(undefined),
        listen: () => ({ stop: () => Promise.resolve() }),
        stale: () => undefined,
        allStale: () => undefined,
      },
      toolNamed: () => undefined,
      sweep: { lead: () => () => undefined, run: () => undefined },
    });
    return { reconciler, outage };
  }

  #snapshot() {
    const http = { url: 'https://api.example.com/', headers: [{ name: 'x', valueFrom: { secretKeyRef: { name: 'tool', key: 'k' } } }] };
    const tool = storedObject('Tool', 'find', {
      agentRefs: [{ name: 'desk' }],
      type: 'Custom',
      custom: { function: { name: 'find' }, http },
    }) as Tool;
    const secret = (name: string) => ({
      namespace: 'acme',
      name,
      uid: name,
      resourceVersion: '1',
      keys: ['k'],
      values: { k: String(this.secretVersion) },
    });
    return memorySnapshot({
      organizations: ['acme'],
      agents: [this.#seenAgent],
      tools: [tool],
      agentTests: this.#seenTests,
      secrets: [secret('keys'), ...(this.toolKey ? [secret('tool')] : [])],
    });
  }

  async *#reconcile(): AsyncGenerator<void> {
    const reconcile = { now: this.clock.now(), signal: new AbortController().signal, retryWhenPostgresIsBack: () => undefined };
    let object = this.#seenAgent;
    for (let round = 0; round < 6; round += 1) {
      const context: ReconcileContext = { ...reconcile, round };
      this.#planned = object;
      const plan = await this.#reconciler.plan(object, context);
      yield;
      if (plan.actions.length === 0) {
        this.#write({ ...this.agent, ...(plan.status && { status: plan.status }) });
        // A process knows its own writes, whatever the watch has brought.
        this.#seenAgent = {
          ...this.agent,
          spec: object.spec,
          metadata: { ...object.metadata, resourceVersion: this.agent.metadata.resourceVersion },
        };
        return;
      }
      for (const action of plan.actions) {
        if (action.type === 'addFinalizer' || action.type === 'dropFinalizer') {
          this.#write({ ...this.agent, metadata: { ...this.agent.metadata, finalizers: [wellKnown.finalizer] } });
          object = this.agent;
          this.#seenAgent = object;
          yield;
          continue;
        }
        if (action.type === 'adopt') throw new Error('the simulation restores nothing');
        const applied = await this.#reconciler.apply(action, object, context).catch((error: unknown) => {
          if (error instanceof UnsettledError) return undefined;
          throw error;
        });
        if (applied === undefined) return;
        yield;
        if (applied.replan === true) break;
      }
    }
  }

  #write(agent: Stored<Agent>): void {
    this.#version += 1;
    this.agent = {
      ...agent,
      apiVersion: API_VERSION,
      kind: agentKind.descriptor.kind,
      metadata: { ...agent.metadata, resourceVersion: String(this.#version) },
    };
  }

  /** @throws Error where a revision goes into service that must not */
  #check({ revision, configHash }: { readonly revision: string; readonly configHash: string }): void {
    const { required } = this;
    const verdicts = required.map(({ metadata, spec }) => this.store.newest(configHash, metadata.name, testDigest(spec)));
    if (verdicts.every((verdict) => verdict === 'passed')) {
      this.served.push({ how: required.length === 0 ? 'untested' : 'tested' });
      return;
    }
    if (configHash === this.store.configHash) {
      this.served.push({ how: 'unchanged' });
      return;
    }
    if (this.#planned.spec.release?.skipTests?.revision !== revision)
      throw new Error(`served with ${verdicts.join(', ')} and without a skip of revision ${revision}`);
    this.served.push({ how: 'skipped' });
  }
}
