/** Reads what a role or the API server shows at `/metrics`. */

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export type Labels = Readonly<Record<string, string | readonly string[]>>;

/** Holds one scrape of the text format. */
export class Metrics {
  readonly #byName = new Map<string, Sample[]>();

  private constructor() {}

  static parse(text: string): Metrics {
    const metrics = new Metrics();
    for (const line of text.split('\n')) {
      const sample = parseSample(line);
      if (sample === undefined) continue;
      const known = metrics.#byName.get(sample.name);
      if (known === undefined) metrics.#byName.set(sample.name, [sample]);
      else known.push(sample);
    }
    return metrics;
  }

  /** Returns the samples whose labels match; a list of values matches any of them. */
  samples(name: string, labels: Labels = {}): readonly Sample[] {
    return (this.#byName.get(name) ?? []).filter((sample) =>
      Object.entries(labels).every(([label, wanted]) => {
        const value = sample.labels[label] ?? '';
        return typeof wanted === 'string' ? value === wanted : wanted.includes(value);
      }),
    );
  }

  /** Adds all matching samples; undefined where there is none. */
  sum(name: string, labels: Labels = {}): number | undefined {
    const found = this.samples(name, labels);
    return found.length === 0 ? undefined : found.reduce((sum, sample) => sum + sample.value, 0);
  }
}

/**
 * Returns a bound that at least a share `q` of a histogram's observations between two scrapes did not exceed: the upper bound of the
 * bucket that the quantile falls into (infinite beyond the last). Nothing is interpolated: buckets may be a factor of ten apart.
 * Undefined where nothing was observed in between.
 */
export function quantileAtMost(q: number, name: string, labels: Labels, after: Metrics, before?: Metrics): number | undefined {
  const counts = new Map<number, number>();
  const count = (metrics: Metrics, sign: 1 | -1): void => {
    for (const sample of metrics.samples(`${name}_bucket`, labels)) {
      const bound = sample.labels['le'] === '+Inf' ? Number.POSITIVE_INFINITY : Number(sample.labels['le']);
      counts.set(bound, (counts.get(bound) ?? 0) + sign * sample.value);
    }
  };
  count(after, 1);
  if (before !== undefined) count(before, -1);

  const buckets = [...counts].sort(([a], [b]) => a - b);
  const total = buckets.at(-1)?.[1] ?? 0;
  return total <= 0 ? undefined : buckets.find(([, cumulative]) => cumulative >= q * total)?.[0];
}

const sampleLine = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)/;
const labelPair = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

function parseSample(line: string): Sample | undefined {
  const match = line.startsWith('#') ? null : sampleLine.exec(line);
  if (match === null) return undefined;
  const [, name = '', labelText = '', value = ''] = match;
  const labels: Record<string, string> = {};
  for (const [, label = '', text = ''] of labelText.matchAll(labelPair)) {
    labels[label] = text.replaceAll(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
  }
  return { name, labels, value: value === '+Inf' ? Number.POSITIVE_INFINITY : value === '-Inf' ? Number.NEGATIVE_INFINITY : Number(value) };
}
