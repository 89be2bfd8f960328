import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import { StoreError, type RequestedTest, type Store } from '../../store/index.ts';
import type { PostgresOutage } from '../runtime/postgres-outage.ts';
import type { Serving, StoreView } from './plan.ts';

interface AgentIdentity {
  readonly org: string;
  readonly agentUid: string;
}

interface Entry {
  readonly serving?: Serving;
  readonly rejected?: { readonly revision: string; readonly message: string };
}

interface StoredRevision extends AgentIdentity {
  readonly agentName: string;
  readonly revision: string;
  readonly config: AgentRevisionConfig;
}

export interface ServingRevisionCacheOptions {
  readonly store: Pick<Store, 'agentRevisions' | 'testRuns'>;
  readonly outage: PostgresOutage;
}

/**
 * Caches which revision Postgres serves for each agent, and writes through. Each agent is read once: only the leader writes.
 */
export class ServingRevisionCache {
  readonly #options: ServingRevisionCacheOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: ServingRevisionCacheOptions) {
    this.#options = options;
  }

  /** @param tested whether tests decide about what is served: their newest results are read each time */
  async view(agent: AgentIdentity, { tested }: { readonly tested: boolean }): Promise<StoreView> {
    const view = await this.#served(agent);
    if (view.state === 'unavailable' || !tested) return view;
    return this.#options.outage.guard<StoreView>(async () => ({
      ...view,
      evidence: await this.#options.store.testRuns.evidenceOf(agent),
    }));
  }

  async #served(agent: AgentIdentity): Promise<StoreView> {
    const known = this.#entries.get(agent.agentUid);
    const { outage } = this.#options;
    if (known !== undefined && outage.why === undefined) return { state: 'known', ...known };
    return outage.guard<StoreView>(async () => {
      const row = await this.#options.store.agentRevisions.serving(agent);
      const entry: Entry = row === undefined ? {} : { serving: { revision: row.revision, activeSince: seconds(row.activeSince) } };
      this.#entries.set(agent.agentUid, entry);
      return { state: 'known', ...entry };
    });
  }

  /** Stores a revision and puts it into service. */
  async serve(agent: StoredRevision): Promise<StoreView> {
    const { org, agentUid, revision } = agent;
    return this.#write(agent, async () => {
      const { activeSince } = await this.#options.store.agentRevisions.serve({ org, agentUid, revision });
      return { serving: { revision, activeSince: seconds(activeSince) } };
    });
  }

  /** Stores a revision and requests a run of tests, of those that none has yet to evaluate. */
  async test({
    tests,
    configHash,
    ...agent
  }: StoredRevision & { readonly configHash: string; readonly tests: readonly RequestedTest[] }): Promise<StoreView> {
    return this.#write(agent, async (before) => {
      const { org, agentUid, agentName, revision } = agent;
      await this.#options.store.testRuns.request({ org, agentUid, agentName, revision, configHash, trigger: 'gate' }, tests);
      return before;
    });
  }

  async #write(agent: StoredRevision, then: (before: Entry) => Promise<Entry>): Promise<StoreView> {
    const { agentUid, revision } = agent;
    const before = this.#entries.get(agentUid) ?? {};
    return this.#options.outage.guard<StoreView>(async () => {
      try {
        await this.#options.store.agentRevisions.put(agent);
        const entry = await then(before);
        this.#entries.set(agentUid, entry);
        return { state: 'known', ...entry };
      } catch (error) {
        if (!(error instanceof StoreError) || (error.kind !== 'invalid' && error.kind !== 'conflict')) throw error;
        const entry: Entry = { ...before, rejected: { revision, message: `the revision cannot be stored: ${error.message}` } };
        this.#entries.set(agentUid, entry);
        return { state: 'known', ...entry };
      }
    });
  }

  /** Takes the agent out of service: no new call starts. */
  async retire(agent: AgentIdentity & { readonly agentName: string }): Promise<StoreView> {
    return this.#options.outage.guard<StoreView>(async () => {
      await this.#options.store.agentRevisions.retire(agent);
      this.#entries.delete(agent.agentUid);
      return { state: 'known' };
    });
  }

  forget(agentUid: string): void {
    this.#entries.delete(agentUid);
  }

  /** Another process may have led in between. */
  clear(): void {
    this.#entries.clear();
  }
}

function seconds(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}
