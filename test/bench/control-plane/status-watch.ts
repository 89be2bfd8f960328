/** Sees on a watch of its own when a condition has caught up with a change: the same clock for every contender. */
import { createInformer, keyOf, type Informer, type ResourceClient, type Stored } from '../../../kube/index.ts';
import { systemClock, type Clock } from '../../../platform/clock.ts';
import { conditionOf, type BenchAgent } from './agents.ts';

interface Seen {
  readonly generation: number;
  readonly at: number;
}

interface Waiter {
  readonly generation: number;
  readonly resolve: (at: number) => void;
}

/** Durations of one change, in milliseconds. */
export interface ChangeLatency {
  /** Time from sending the apply until the condition was seen: a person waits for that long. */
  readonly fromSentMs: number;
  /** Time from the API server's answer to the apply: the loop itself takes that. 0 where the condition was seen before the answer. */
  readonly fromStoredMs: number;
}

export interface StatusWatchOptions {
  readonly client: ResourceClient<BenchAgent>;
  readonly namespace: string;
  /** Condition types to look at; one counts once it is `True` for the generation. */
  readonly types: readonly string[];
  /** The clock of the process by default. */
  readonly clock?: Clock;
}

export class StatusWatch {
  readonly #client: ResourceClient<BenchAgent>;
  readonly #namespace: string;
  readonly #types: readonly string[];
  readonly #clock: Clock;
  readonly #informer: Informer<BenchAgent>;
  readonly #seen = new Map<string, Seen>();
  readonly #waiters = new Map<string, Waiter[]>();

  constructor(options: StatusWatchOptions) {
    this.#client = options.client;
    this.#namespace = options.namespace;
    this.#types = options.types;
    this.#clock = options.clock ?? systemClock;
    this.#informer = createInformer<BenchAgent>({ client: options.client, namespace: options.namespace });
    this.#informer.onChange(({ type, object }) => {
      if (type !== 'deleted') this.#look(object);
    });
  }

  async start(): Promise<void> {
    this.#informer.start();
    await this.#informer.synced();
  }

  stop(): Promise<void> {
    return this.#informer.stop();
  }

  /**
   * Returns when (by the clock's `monotonic()`) the condition was first seen `True` for that generation or a later one.
   * @throws Error after `timeoutMs` (default: two minutes).
   */
  async reached(name: string, type: string, generation: number, timeoutMs = 120_000): Promise<number> {
    const key = `${type}/${name}`;
    const seen = this.#seen.get(key);
    if (seen !== undefined && seen.generation >= generation) return seen.at;
    return new Promise((resolve, reject) => {
      const timer = this.#clock.after(timeoutMs, () => reject(new Error(this.#explain({ name, type, generation, timeoutMs }))));
      const waiter: Waiter = {
        generation,
        resolve: (at) => {
          timer.cancel();
          resolve(at);
        },
      };
      this.#waiters.set(key, [...(this.#waiters.get(key) ?? []), waiter]);
    });
  }

  /** Applies a change and waits for the condition. One change of an object at a time. */
  async change(agent: BenchAgent, type: string): Promise<ChangeLatency> {
    const sentAt = this.#clock.monotonic();
    const stored = await this.#client.apply(agent, { force: true });
    const storedAt = this.#clock.monotonic();
    const seenAt = await this.reached(agent.metadata.name, type, stored.metadata.generation ?? 0);
    return { fromSentMs: seenAt - sentAt, fromStoredMs: Math.max(0, seenAt - storedAt) };
  }

  /** Returns the times of {@link reached} for each of them. */
  async allReached(agents: readonly Stored<BenchAgent>[], type: string, timeoutMs: number): Promise<readonly number[]> {
    return Promise.all(agents.map(({ metadata }) => this.reached(metadata.name, type, metadata.generation ?? 0, timeoutMs)));
  }

  #explain({
    name,
    type,
    generation,
    timeoutMs,
  }: {
    readonly name: string;
    readonly type: string;
    readonly generation: number;
    readonly timeoutMs: number;
  }): string {
    const agent = this.#informer.cache.get(keyOf({ metadata: { namespace: this.#namespace, name } }));
    const condition = agent === undefined ? 'no such object' : JSON.stringify(conditionOf(agent, type) ?? 'no such condition');
    return `Agent ${name}: ${type} was not seen True for generation ${generation} within ${timeoutMs} ms; last seen: ${condition}`;
  }

  #look(agent: BenchAgent): void {
    const at = this.#clock.monotonic();
    for (const type of this.#types) {
      const condition = conditionOf(agent, type);
      if (condition?.status !== 'True') continue;
      const key = `${type}/${agent.metadata.name}`;
      const generation = condition.observedGeneration ?? 0;
      if (generation <= (this.#seen.get(key)?.generation ?? -1)) continue;
      this.#seen.set(key, { generation, at });
      const waiters = this.#waiters.get(key);
      if (waiters === undefined) continue;
      const waiting = waiters.filter((waiter) => waiter.generation > generation);
      if (waiting.length === 0) this.#waiters.delete(key);
      else this.#waiters.set(key, waiting);
      for (const waiter of waiters) if (waiter.generation <= generation) waiter.resolve(at);
    }
  }
}
