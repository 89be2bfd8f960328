import { Gauge, type Registry } from 'prom-client';

export interface Sample<L extends string> {
  readonly labels: Readonly<Record<L, string>>;
  readonly value: number;
}

/** A gauge that is read when it is scraped, and that several owners feed, each with series of its own. */
export class SampledGauge<L extends string> extends Gauge<L> {
  readonly #samplers: Set<() => Sample<L>>;

  constructor(options: { readonly name: string; readonly help: string; readonly labelNames: readonly L[]; readonly registry: Registry }) {
    const samplers = new Set<() => Sample<L>>();
    super({
      name: options.name,
      help: options.help,
      labelNames: options.labelNames,
      registers: [options.registry],
      collect() {
        this.reset();
        for (const sampler of samplers) {
          const { labels, value } = sampler();
          if (Number.isFinite(value)) this.set(labels, value);
        }
      },
    });
    this.#samplers = samplers;
  }

  /** Returns the gauge of that name in `registry`, created if missing. @throws TypeError when the name belongs to another kind of metric. */
  static of<L extends string>(registry: Registry, name: string, help: string, labelNames: readonly L[]): SampledGauge<L> {
    const known: unknown = registry.getSingleMetric(name);
    if (known === undefined) return new SampledGauge({ name, help, labelNames, registry });
    if (known instanceof SampledGauge) return known as SampledGauge<L>;
    throw new TypeError(`the metric ${name} is registered already, and not as a sampled gauge`);
  }

  /** `sampler` is asked at every scrape, until the function that is returned has been called. */
  sample(sampler: () => Sample<L>): () => void {
    this.#samplers.add(sampler);
    return () => void this.#samplers.delete(sampler);
  }
}
