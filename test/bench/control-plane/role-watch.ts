/** Measures what a role costs while something goes on: heap and event loop from its own metrics, CPU and RSS from the system. */
import type { Metrics } from '../harness/prometheus.ts';
import { ProcessSampler } from '../harness/process-sampler.ts';
import { median } from '../harness/stats.ts';
import type { BenchRole } from '../harness/role.ts';

export interface RoleCost {
  readonly seconds: number;
  readonly cpuMs: number | undefined;
  readonly rssMaxBytes: number | undefined;
  /** Lowest and highest of the samples; the lowest is nearest to what is really held. */
  readonly heapMinBytes: number;
  readonly heapMaxBytes: number;
  /** Delay of the event loop as Node reports it, its 10 ms sampling interval included: p99 of each window of a few seconds, the median of those. */
  readonly loopP99Ms: number;
  /** The longest single delay. */
  readonly loopMaxMs: number;
}

const intervalMs = 5_000;

export class RoleWatch {
  readonly #role: BenchRole;
  readonly #sampler: ProcessSampler;
  readonly #startedAt: number;
  readonly #heap: number[] = [];
  readonly #loopP99: number[] = [];
  readonly #loopMax: number[] = [];
  readonly #timer: NodeJS.Timeout;

  private constructor(role: BenchRole, processStartedAt?: number) {
    this.#role = role;
    this.#startedAt = processStartedAt ?? performance.now();
    this.#sampler = new ProcessSampler({ pid: role.pid, sinceProcessStart: processStartedAt !== undefined });
    // A scrape that fails leaves a gap; the one at the end does not fail silently.
    this.#timer = setInterval(() => void this.sample().catch(() => undefined), intervalMs);
  }

  /** Watches from now on. The window of event-loop delays begins with a scrape: each resets Node's histogram. */
  static async start(role: BenchRole): Promise<RoleWatch> {
    await role.metrics();
    return new RoleWatch(role);
  }

  /** Watches from the start of a process that has not been scraped yet. @param startedAt `performance.now()` of then */
  static sinceStart(role: BenchRole, startedAt: number): RoleWatch {
    return new RoleWatch(role, startedAt);
  }

  /** Reads the role's metrics. While it is watched only this may read them, or a window of event-loop delays is lost. */
  async sample(): Promise<Metrics> {
    const metrics = await this.#role.metrics();
    this.#heap.push(metrics.sum('nodejs_heap_size_used_bytes') ?? Number.NaN);
    this.#loopP99.push((metrics.sum('nodejs_eventloop_lag_p99_seconds') ?? Number.NaN) * 1000);
    this.#loopMax.push((metrics.sum('nodejs_eventloop_lag_max_seconds') ?? Number.NaN) * 1000);
    return metrics;
  }

  async stop(): Promise<RoleCost> {
    clearInterval(this.#timer);
    await this.sample();
    const use = this.#sampler.stop();
    return {
      seconds: (performance.now() - this.#startedAt) / 1000,
      cpuMs: use?.cpuMs,
      rssMaxBytes: use?.rssMaxBytes,
      heapMinBytes: Math.min(...this.#heap),
      heapMaxBytes: Math.max(...this.#heap),
      loopP99Ms: median(this.#loopP99),
      loopMaxMs: Math.max(...this.#loopMax),
    };
  }
}
