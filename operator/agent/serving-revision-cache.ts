import type { Agent } from '../../crds/index.ts';
import { configHashOf } from '../../crds/requested-test.ts';
import { releaseEvents } from '../../events/release-events.ts';
import type { Clock } from '../../platform/clock.ts';
import { StoreError, type ReleaseState, type RequestedTest, type ServingBudget, type Store } from '../../store/index.ts';
import type { PostgresOutage } from '../runtime/postgres-outage.ts';
import { timestamp } from '../../kube/timestamps.ts';
import type { Serving, StoreView } from './plan.ts';
import type { ReleaseMetrics, RunningCanary } from './release-metrics.ts';
import type { ReleaseAction } from './release-plan.ts';
import type { CompiledRevision } from './revision.ts';

interface AgentRef {
  readonly org: string;
  readonly agentName: string;
}

type Release = Agent['spec']['release'];

interface Entry {
  readonly agent: AgentRef;
  readonly state?: ReleaseState;
  readonly served?: { readonly revision: string; readonly configHash: string };
  readonly rejected?: { readonly revision: string; readonly message: string };
}

export interface ServingRevisionCacheOptions {
  readonly store: Pick<Store, 'agentRevisions' | 'agentReleases' | 'releaseFigures' | 'testRuns'>;
  readonly outage: PostgresOutage;
  readonly clock: Clock;
  readonly metrics: ReleaseMetrics;
}

/** `superseded`: a person or another operator changed the release meanwhile, so that there is something else to decide. */
type Outcome = StoreView | { readonly state: 'superseded' };

/**
 * Caches what Postgres serves for each agent, and writes through. Each agent is read once, because only the leader writes; who else
 * does (a rollback) says so, and a change that was decided on a former state is refused by its version.
 */
export class ServingRevisionCache {
  readonly #options: ServingRevisionCacheOptions;
  readonly #entries = new Map<string, Entry>();
  /** Grows whenever something is forgotten: a read that began before may have missed the change. */
  #forgotten = 0;

  constructor(options: ServingRevisionCacheOptions) {
    this.#options = options;
    options.metrics.watch(() => this.#canaries());
  }

  /** @param tested whether tests decide about what is served: their newest results are read each time */
  async view(agent: AgentRef, { tested, release }: { readonly tested: boolean; readonly release?: Release }): Promise<StoreView> {
    const before = this.#entries.get(cacheKey(agent));
    const { outage, store } = this.#options;
    // While a canary runs Postgres is asked every second anyway: a rollback is seen even if its notification is lost.
    const trusted = before?.state?.canary == null ? before : undefined;
    if (trusted !== undefined && outage.why === undefined && release?.pin === undefined && !tested) return viewOf(trusted);
    return outage.guard<StoreView>(async () => {
      const asOf = this.#forgotten;
      const entry = trusted ?? { ...before, ...cacheEntry(agent, await store.agentReleases.state(agent)) };
      const served = tested ? await this.#served(agent, entry) : undefined;
      const known = { ...entry, ...(served && { served }) };
      this.#keep(agent, known, asOf);
      return {
        ...viewOf(known),
        ...(await this.#pinned(agent, entry, release)),
        ...(await this.#withFigures(agent, entry, release)),
        ...(tested && { evidence: await store.testRuns.evidenceOf(agent) }),
      };
    });
  }

  /** Stores a revision where it is new, and changes what serves. */
  async release(agent: AgentRef, action: ReleaseAction): Promise<Outcome> {
    const revision = action.type === 'serve' ? action.revision : 'revision' in action.change ? (action.change.revision ?? '') : '';
    return this.#write(agent, { revision, config: action.config, parts: action.parts }, async (before) => {
      const state = await this.#change(agent, action, before.state?.version ?? null);
      if (state === undefined) return undefined;
      this.#options.metrics.count(action.type === 'serve' ? 'serve' : action.change.type);
      return { agent, state };
    });
  }

  /** Stores a revision and requests a run of those tests that no run has yet to evaluate. */
  async test(
    agent: AgentRef,
    { tests, revision, configHash, config, parts }: CompiledRevision & { readonly tests: readonly RequestedTest[] },
  ): Promise<Outcome> {
    return this.#write(agent, { revision, config, parts }, async (before) => {
      await this.#options.store.testRuns.request({ ...agent, revision, configHash, trigger: 'gate' }, tests);
      return before;
    });
  }

  /** @param then gives undefined where the agent has to be looked at again */
  async #write(
    agent: AgentRef,
    {
      revision,
      config,
      parts,
    }: Pick<CompiledRevision, 'revision'> & { readonly [K in 'config' | 'parts']: CompiledRevision[K] | undefined },
    then: (before: Entry) => Promise<Entry | undefined>,
  ): Promise<Outcome> {
    const { store, outage } = this.#options;
    return outage.guard<Outcome>(async () => {
      const asOf = this.#forgotten;
      const before = this.#entries.get(cacheKey(agent)) ?? cacheEntry(agent, await store.agentReleases.state(agent));
      try {
        if (config !== undefined) await store.agentRevisions.put({ ...agent, revision, config, parts });
        const entry = await then(before);
        if (entry === undefined) {
          this.#entries.delete(cacheKey(agent));
          return { state: 'superseded' };
        }
        this.#keep(agent, entry, asOf);
        return viewOf(entry);
      } catch (error) {
        if (!(error instanceof StoreError) || (error.kind !== 'invalid' && error.kind !== 'conflict')) throw error;
        const entry: Entry = { ...before, rejected: { revision, message: `the revision cannot be stored: ${error.message}` } };
        this.#keep(agent, entry, asOf);
        return viewOf(entry);
      }
    });
  }

  async setBudget(agent: AgentRef, budget: ServingBudget | undefined): Promise<StoreView> {
    return this.#options.outage.guard<StoreView>(async () => {
      const asOf = this.#forgotten;
      const state = await this.#options.store.agentReleases.setBudget({ ...agent, budget });
      const entry = { ...this.#entries.get(cacheKey(agent)), ...cacheEntry(agent, state) };
      this.#keep(agent, entry, asOf);
      return viewOf(entry);
    });
  }

  /** Takes the agent out of service: no new call starts. */
  async retire(agent: AgentRef): Promise<Outcome> {
    return this.#options.outage.guard<Outcome>(async () => {
      const version = this.#entries.get(cacheKey(agent))?.state?.version;
      this.#entries.delete(cacheKey(agent));
      return (await this.#options.store.agentReleases.retire({ ...agent, version })) ? { state: 'known' } : { state: 'superseded' };
    });
  }

  /** Takes agents out of service that were released while Postgres was unavailable. */
  async retireOthers(living: readonly string[], within: string | undefined): Promise<readonly string[]> {
    const retired = await this.#options.store.agentReleases.retireOthers(living, within);
    for (const agent of retired) this.forget(agent);
    return retired.map(cacheKey);
  }

  forget(agent: AgentRef): void {
    this.#forgotten += 1;
    this.#entries.delete(cacheKey(agent));
  }

  /** Forgets everything, because another process may have led in between. */
  clear(): void {
    this.#forgotten += 1;
    this.#entries.clear();
  }

  #keep(agent: AgentRef, entry: Entry, asOf: number): void {
    if (asOf === this.#forgotten) this.#entries.set(cacheKey(agent), entry);
  }

  #change({ org, agentName }: AgentRef, action: ReleaseAction, version: number | null) {
    const { store, clock } = this.#options;
    const shared = { org, agentName, version, events: releaseEvents(clock.now()) };
    if (action.type === 'release') return store.agentReleases.change({ ...shared, change: action.change, reason: action.reason });
    const { revision, configHash, pinned = false } = action;
    return store.agentReleases.serve({ ...shared, revision, pinned, ...(configHash !== null && { configHash }) });
  }

  #canaries(): readonly RunningCanary[] {
    return [...this.#entries.values()].flatMap(({ agent, state }) =>
      state?.canary ? [{ ...agent, state: { revision: state.revision, canary: state.canary } }] : [],
    );
  }

  /** Reads a revision once while it serves, because it never changes. */
  async #served({ org, agentName }: AgentRef, { state, served }: Entry): Promise<Entry['served']> {
    if (state === undefined || served?.revision === state.revision) return served;
    const { revision } = state;
    const stored = await this.#options.store.agentRevisions.get({ org, agentName, revision });
    return stored && { revision, configHash: configHashOf(stored.config as CompiledRevision['config']) };
  }

  async #pinned({ org, agentName }: AgentRef, { state }: Entry, release: Release): Promise<object> {
    const pin = release?.pin;
    if (pin === undefined || state?.revision === pin.revision) return {};
    return { pinned: await this.#options.store.agentReleases.served({ org, agentName, prefix: pin.revision }) };
  }

  async #withFigures({ org, agentName }: AgentRef, { state }: Entry, release: Release): Promise<object> {
    if (state?.canary == null) return {};
    const { revision, configHash, since } = state.canary;
    const analysis = release?.canary?.abortOn?.analysis?.name;
    return {
      release: { state, figures: await this.#options.store.releaseFigures.of({ org, agentName, revision, configHash, since, analysis }) },
    };
  }
}

function cacheKey({ org, agentName }: AgentRef): string {
  return `${org}/${agentName}`;
}

function cacheEntry({ org, agentName }: AgentRef, state: ReleaseState | undefined): Entry {
  return { agent: { org, agentName }, ...(state && { state }) };
}

function viewOf({ state, served, rejected }: Entry): StoreView & { readonly state: 'known' } {
  return {
    state: 'known',
    ...(state !== undefined && { release: { state }, ...(state.retiredAt === null && { serving: servingOf(state, served) }) }),
    ...(rejected !== undefined && { rejected }),
  };
}

function servingOf({ revision, activeSince }: ReleaseState, served: Entry['served']): Serving {
  const configHash = served?.revision === revision ? served.configHash : undefined;
  return { revision, since: timestamp(activeSince), ...(configHash !== undefined && { configHash }) };
}
