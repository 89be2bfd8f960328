import { systemClock, type Clock, type Timer } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { StoreError, type Store } from '../../store/index.ts';
import type { AgentRevisionConfig } from './revision.ts';
import type { Serving, StoreView } from './plan.ts';

interface AgentIdentity {
  readonly org: string;
  readonly agentUid: string;
}

interface Entry {
  readonly serving?: Serving;
  readonly rejected?: { readonly revision: string; readonly message: string };
}

export interface ServingBookOptions {
  readonly store: Pick<Store, 'agentRevisions' | 'health'>;
  readonly clock?: Clock;
  readonly logger: Logger;
  /** Postgres is back: look again at the agents that waited. */
  readonly onRecovered: () => void;
}

/** Between two looks whether Postgres is back, in milliseconds. */
const PROBE_MS = 1_000;

/**
 * What Postgres serves, as this process knows it. Each agent is read once; after that only this process changes it,
 * for only the leader writes. While Postgres is away nobody queues up before it: one probe finds out when it is back.
 */
export class ServingBook {
  readonly #options: ServingBookOptions;
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();
  #outage: string | undefined;
  #probe: Timer | undefined;
  #closed = false;

  constructor(options: ServingBookOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  async view(agent: AgentIdentity): Promise<StoreView> {
    const known = this.#entries.get(agent.agentUid);
    if (known !== undefined && this.#outage === undefined) return { state: 'known', ...known };
    if (this.#outage !== undefined) return { state: 'unavailable', why: this.#outage };
    return this.#guard(async () => {
      const row = await this.#options.store.agentRevisions.serving(agent);
      const entry: Entry = row === undefined ? {} : { serving: { revision: row.revision, activeSince: seconds(row.activeSince) } };
      this.#entries.set(agent.agentUid, entry);
      return { state: 'known', ...entry };
    });
  }

  /** Stores a revision and puts it into service. */
  async serve(
    agent: AgentIdentity & { readonly agentName: string; readonly revision: string; readonly config: AgentRevisionConfig },
  ): Promise<StoreView> {
    const { org, agentUid, revision } = agent;
    const before = this.#entries.get(agentUid);
    return this.#guard(async () => {
      try {
        await this.#options.store.agentRevisions.put(agent);
        const { activeSince } = await this.#options.store.agentRevisions.serve({ org, agentUid, revision });
        const entry: Entry = { serving: { revision, activeSince: seconds(activeSince) } };
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

  /** No new call starts from the agent any more. */
  async retire(agent: AgentIdentity): Promise<StoreView> {
    return this.#guard(async () => {
      await this.#options.store.agentRevisions.retire(agent);
      this.#entries.delete(agent.agentUid);
      return { state: 'known' };
    });
  }

  forget(agentUid: string): void {
    this.#entries.delete(agentUid);
  }

  /** Another process may have led in between: nothing that was known counts any more. */
  clear(): void {
    this.#entries.clear();
  }

  close(): void {
    this.#closed = true;
    this.#probe?.cancel();
  }

  async #guard(attempt: () => Promise<StoreView>): Promise<StoreView> {
    try {
      return await attempt();
    } catch (error) {
      const why = outageOf(error);
      if (why === undefined) throw error;
      this.#began(why, error);
      return { state: 'unavailable', why };
    }
  }

  #began(why: string, error: unknown): void {
    if (this.#outage === undefined)
      this.#options.logger.warn({ cause: messageOf(error) }, 'Postgres cannot be used; agents keep serving, new revisions wait');
    this.#outage = why;
    if (this.#probe === undefined && !this.#closed) this.#probe = this.#clock.after(PROBE_MS, () => void this.#look());
  }

  async #look(): Promise<void> {
    try {
      await this.#options.store.health();
      this.#probe = undefined;
      this.#outage = undefined;
      this.#options.logger.info('Postgres is back');
      this.#options.onRecovered();
    } catch (error) {
      this.#outage = outageOf(error) ?? this.#outage;
      this.#probe = this.#closed ? undefined : this.#clock.after(PROBE_MS, () => void this.#look());
    }
  }
}

/** What keeps Postgres from being used at all, in words that don't change from try to try; `undefined` for a trouble of this one call. */
function outageOf(error: unknown): string | undefined {
  if (!(error instanceof StoreError)) return undefined;
  switch (error.kind) {
    case 'unavailable':
      return 'Postgres does not answer';
    case 'schema':
      return 'the database lacks migrations, run `parley migrate`';
    case 'refused':
      return 'Postgres refuses the user, password or database in DATABASE_URL, correct it';
    default:
      return undefined;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function seconds(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}
