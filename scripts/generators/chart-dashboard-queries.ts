/** Defines what a dashboard and its panels are, and the queries that panels share. */

/** One panel: a title, what it shows, and a line for each query. */
export interface Panel {
  readonly title: string;
  /** Says what it shows, and which values need a look. */
  readonly about: string;
  readonly unit?: 's' | 'short' | 'reqps' | 'ops' | 'percentunit' | 'bytes';
  readonly stat?: true;
  readonly lines: readonly (readonly [expr: string, legend: string])[];
}

export interface Dashboard {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  readonly rows: readonly Row[];
}

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

/** Selects the pods of one release: other programs in its namespace have metrics of the same names. */
export const SELECTED = 'namespace="$namespace",job=~"$release-(operator|api|worker|dispatcher|voice)"';
export const ofRole = (role: string): string => `namespace="$namespace",job="$release-${role}"`;
export const rate = (metric: string, by: string, labels = ''): string =>
  `sum by (${by}) (rate(${metric}{${SELECTED}${labels}}[$__rate_interval]))`;
export const anHour = (metric: string, by: string): string => `${rate(metric, by)} * 3600`;
export const quantile = (share: number, metric: string, by = ''): string =>
  `histogram_quantile(${share}, sum by (${['le', by].filter((label) => label !== '').join(', ')}) (rate(${metric}_bucket{${SELECTED}}[$__rate_interval])))`;
export const slowest = (metric: string, by: string): Panel['lines'] => [
  [quantile(0.5, metric, by), `p50 {{${by}}}`],
  [quantile(0.99, metric, by), `p99 {{${by}}}`],
];
