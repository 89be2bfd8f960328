/** Plays Postgres for property tests of the gate: revisions, what serves, and test runs. A failure strikes before or after the write. */
import { configHashOf } from '../../crds/requested-test.ts';
import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import { applyChange, type ReleaseChange, type ReleaseState } from '../../store/releases/release-state.ts';
import { StoreError, type RequestedTest, type Store, type StoredVerdict, type TestEvidence } from '../../store/index.ts';

interface Run {
  readonly id: string;
  readonly configHash: string;
  /** Time at which the run is due; a worker that looks after it moves this on. */
  dueAt: number;
  state: 'queued' | 'running' | 'finished' | 'cancelled';
  readonly results: { readonly name: string; readonly digest: string; verdict?: StoredVerdict; finishedAt?: number }[];
}

/** Milliseconds between two looks of the starter of runs. */
const LOOKED_AT_EVERY_MS = 60_000;

export class SimulatedGateStore {
  readonly #now: () => number;
  readonly #onServe: (revision: { readonly revision: string; readonly configHash: string }) => void;
  available = true;
  /** Makes the next write happen, or not, and lose its answer. */
  failure: 'before' | 'after' | undefined;
  release: ReleaseState | undefined;
  readonly configs = new Map<string, AgentRevisionConfig>();
  runs: Run[] = [];

  constructor(now: () => number, onServe: (revision: { readonly revision: string; readonly configHash: string }) => void) {
    this.#now = now;
    this.#onServe = onServe;
  }

  /** Results that are missing, of runs that are not over. */
  get pending() {
    return this.runs
      .filter(({ state }) => state === 'queued' || state === 'running')
      .flatMap((run) => run.results.filter(({ verdict }) => verdict === undefined).map((result) => ({ run, result })));
  }

  /** Hash of the configuration that serves. */
  get configHash(): string | undefined {
    const config = this.configs.get(this.release?.revision ?? '');
    return config && configHashOf(config);
  }

  newest(configHash: string, name: string, digest: string): StoredVerdict | undefined {
    return this.#results(configHash, name, digest).findLast(({ verdict }) => verdict !== undefined)?.verdict;
  }

  record({ run, result }: SimulatedGateStore['pending'][number], verdict: StoredVerdict): void {
    Object.assign(result, { verdict, finishedAt: this.#now() });
    run.dueAt = this.#now() + LOOKED_AT_EVERY_MS;
    run.state = run.results.every((each) => each.verdict !== undefined) ? 'finished' : 'running';
  }

  asStore(): Pick<Store, 'agentRevisions' | 'agentReleases' | 'releaseFigures' | 'testRuns' | 'health'> {
    return {
      health: () => (this.available ? Promise.resolve() : Promise.reject(new StoreError('unavailable', 'Postgres is away'))),
      agentRevisions: {
        put: ({ revision, config }: { revision: string; config: AgentRevisionConfig }) =>
          this.#write(() => void this.configs.set(revision, config)),
        get: ({ revision }: { revision: string }) =>
          this.#read(() => (this.configs.has(revision) ? { config: this.configs.get(revision) } : undefined)),
      },
      agentReleases: {
        state: () => this.#read(() => this.release),
        serve: ({ revision, configHash = null }: { revision: string; configHash?: string | null }) =>
          this.#write(() => {
            const config = this.configs.get(revision);
            if (config === undefined) throw new StoreError('not_found', 'never stored');
            this.#onServe({ revision, configHash: configHashOf(config) });
            return this.#change({ type: 'serve', revision, configHash });
          }),
        change: ({ change }: { change: ReleaseChange }) => this.#write(() => this.#change(change)),
      },
      testRuns: {
        evidenceOf: () => this.#read(() => this.#evidence()),
        request: ({ configHash }: { configHash: string }, tests: readonly RequestedTest[]) =>
          this.#write(() => this.#request(configHash, tests)),
      },
    } as unknown as Pick<Store, 'agentRevisions' | 'agentReleases' | 'releaseFigures' | 'testRuns' | 'health'>;
  }

  #change(change: ReleaseChange): ReleaseState {
    const now = new Date(this.#now());
    const revision = 'revision' in change ? (change.revision ?? '') : '';
    const first = {
      version: 0,
      revision,
      configHash: null,
      activeSince: now,
      canary: null,
      rolledBack: [],
      retiredAt: null,
      promoted: null,
    };
    const before = this.release ?? first;
    const next = applyChange(before, change, { now })?.state ?? before;
    this.release = { ...next, version: before.version + 1 };
    return this.release;
  }

  #request(configHash: string, tests: readonly RequestedTest[]): void {
    for (const run of this.runs) if (run.state === 'queued' && run.configHash !== configHash) run.state = 'cancelled';
    const known = this.pending.filter(({ run }) => run.configHash === configHash).map(({ result }) => result);
    const wanted = tests.filter(({ name, digest }) => !known.some((each) => each.name === name && each.digest === digest));
    if (wanted.length === 0) return;
    const results = wanted.map(({ name, digest }) => ({ name, digest }));
    this.runs.push({ id: `run_${this.runs.length}`, configHash, dueAt: this.#now(), state: 'queued', results });
  }

  #results(configHash: string, name: string, digest: string) {
    const all = this.runs.filter((run) => run.configHash === configHash).flatMap(({ results }) => results);
    return all
      .filter((each) => each.name === name && each.digest === digest)
      .toSorted((a, b) => (a.finishedAt ?? Infinity) - (b.finishedAt ?? Infinity));
  }

  #evidence(): readonly TestEvidence[] {
    const keys = new Map(
      this.runs.flatMap((run) => run.results.map(({ name, digest }) => [`${run.configHash}/${name}/${digest}`, { run, name, digest }])),
    );
    return [...keys.values()].map(({ run, name, digest }) => this.#evidenceOf(run.configHash, name, digest));
  }

  #evidenceOf(configHash: string, name: string, digest: string): TestEvidence {
    const done = this.#results(configHash, name, digest).filter(({ verdict }) => verdict !== undefined);
    const last = done.at(-1);
    const errors = done.length - 1 - done.findLastIndex(({ verdict }) => verdict !== 'error');
    const waiting = this.pending.find(
      ({ run, result }) => run.configHash === configHash && result.name === name && result.digest === digest,
    )?.run;
    return {
      configHash,
      testName: name,
      digest,
      ...(last?.verdict !== undefined && {
        newest: { verdict: last.verdict, message: `it ${last.verdict}`, runId: 'run', finishedAt: new Date(last.finishedAt ?? 0), errors },
      }),
      ...(waiting && { pending: { runId: waiting.id, dueAt: new Date(waiting.dueAt) } }),
    };
  }

  #read<T>(read: () => T): Promise<T> {
    return this.available ? Promise.resolve(read()) : Promise.reject(new StoreError('unavailable', 'Postgres is away'));
  }

  async #write<T>(write: () => T): Promise<T> {
    const { failure } = this;
    this.failure = undefined;
    if (!this.available || failure === 'before') throw new StoreError('unavailable', 'the connection broke');
    const answer = write();
    if (failure === 'after') throw new StoreError('unavailable', 'the connection broke');
    return answer;
  }
}
