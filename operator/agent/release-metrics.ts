/** Metrics of releases. Revisions are labelled by their part in the release alone: hashes and names of agents would have no bound. */
import { Counter, Gauge, type Registry } from 'prom-client';

import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import type { ReleaseFigures, ReleaseState, Store } from '../../store/index.ts';

export interface RunningCanary {
  readonly org: string;
  readonly agentName: string;
  readonly state: Pick<ReleaseState, 'revision'> & { readonly canary: NonNullable<ReleaseState['canary']> };
}

export interface ReleaseMetricsOptions {
  readonly registry: Registry;
  readonly figures: Pick<Store['releaseFigures'], 'of'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

type Slot = 'serving' | 'canary';
type Change = (typeof CHANGES)[number];

const CHANGES = ['serve', 'begin_canary', 'promote', 'abort', 'end_canary'] as const;
/** Most running canaries that are read for each scrape. */
const CANARIES_READ = 50;
/** One scrape collects several gauges, which share what is read. */
const SHARED_MS = 1_000;

export class ReleaseMetrics {
  readonly #options: ReleaseMetricsOptions;
  readonly #releases: Counter<'change'>;
  #canaries: () => readonly RunningCanary[] = () => [];
  #read: { readonly at: number; readonly figures: Promise<ReadonlyMap<Slot, readonly ReleaseFigures[]>> } | undefined;

  constructor(options: ReleaseMetricsOptions) {
    const { registry } = options;
    this.#options = options;
    this.#releases = new Counter({
      name: 'parley_agent_releases_total',
      help: 'Changes of what new calls start with that the operator made: serve, begin_canary, promote, abort or end_canary.',
      labelNames: ['change'],
      registers: [registry],
    });
    // Prometheus sees an increase only of a series that exists: without these, the first abort would raise no alert.
    for (const change of CHANGES) this.#releases.inc({ change }, 0);
    const canaries = (): number => this.#canaries().length;
    registry.registerMetric(
      new Gauge({
        name: 'parley_agent_canaries',
        help: 'Canaries that run.',
        registers: [],
        collect() {
          this.set(canaries());
        },
      }),
    );
    const sum = (of: (figures: ReleaseFigures) => number) => (all: readonly ReleaseFigures[]) =>
      all.reduce((total, each) => total + of(each), 0);
    const slowest = (all: readonly ReleaseFigures[]): number =>
      Math.max(0, ...all.map(({ p95VoiceToVoiceMs }) => (p95VoiceToVoiceMs ?? 0) / 1000));
    const since = 'since each canary began, of the canaries and of what serves next to them';
    this.#gauge(
      'parley_agent_release_calls',
      `Calls that ended ${since}, the latest 1,000 of each.`,
      sum(({ calls }) => calls),
    );
    this.#gauge(
      'parley_agent_release_errors',
      `Calls that ended as error ${since}.`,
      sum(({ errors }) => errors),
    );
    this.#gauge(
      'parley_agent_release_failed_tool_calls',
      `Tool calls that failed ${since}.`,
      sum(({ failedToolCalls }) => failedToolCalls),
    );
    this.#gauge(
      'parley_agent_release_voice_to_voice_seconds',
      `95th percentile of the time to an answer ${since}; of the slowest agent.`,
      slowest,
    );
  }

  /** @param running the canaries that run, of this process while it leads */
  watch(running: () => readonly RunningCanary[]): void {
    this.#canaries = running;
  }

  count(type: string): void {
    const change = CHANGES.find((known) => known === type);
    if (change !== undefined) this.#releases.inc({ change } satisfies { change: Change });
  }

  #gauge(name: string, help: string, value: (figures: readonly ReleaseFigures[]) => number): void {
    const read = (): Promise<ReadonlyMap<Slot, readonly ReleaseFigures[]>> => this.#figures();
    this.#options.registry.registerMetric(
      new Gauge({
        name,
        help,
        labelNames: ['slot'],
        registers: [],
        async collect() {
          this.reset();
          for (const [slot, figures] of await read()) this.set({ slot }, value(figures));
        },
      }),
    );
  }

  #figures(): Promise<ReadonlyMap<Slot, readonly ReleaseFigures[]>> {
    const now = this.#options.clock.monotonic();
    if (this.#read === undefined || now - this.#read.at > SHARED_MS) this.#read = { at: now, figures: this.#readAll() };
    return this.#read.figures;
  }

  async #readAll(): Promise<ReadonlyMap<Slot, readonly ReleaseFigures[]>> {
    const { figures, logger } = this.#options;
    const canaries = this.#canaries().slice(0, CANARIES_READ);
    const of = ({ org, agentName, state }: RunningCanary, revision: string) =>
      figures.of({
        org,
        agentName,
        revision,
        configHash: revision === state.canary.revision ? state.canary.configHash : undefined,
        since: state.canary.since,
      });
    try {
      const [tried, served] = [[] as ReleaseFigures[], [] as ReleaseFigures[]];
      for (const each of canaries) {
        tried.push(await of(each, each.state.canary.revision));
        served.push(await of(each, each.state.revision));
      }
      return new Map<Slot, readonly ReleaseFigures[]>([
        ['canary', tried],
        ['serving', served],
      ]);
    } catch (err) {
      logger.warn({ err }, 'failed to read the figures of canaries; this scrape goes without them');
      return new Map();
    }
  }
}
