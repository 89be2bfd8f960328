/** Writes the results of a benchmark: Markdown for people, JSON to compare runs. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Disturbance, MachineFacts } from './machine.ts';
import { progress } from './progress.ts';
import { percent, renderTable, type Table } from './table.ts';

export interface Report {
  readonly benchmark: string;
  /** Time by RFC 3339. */
  readonly startedAt: string;
  readonly durationSeconds: number;
  readonly machine: MachineFacts;
  readonly disturbance: Disturbance;
  /** Amount of work in the run. */
  readonly scale: object;
  /** Results by part. */
  readonly results: Readonly<Record<string, unknown>>;
  /** Reasons by part that could not be measured. */
  readonly failures: Readonly<Record<string, string>>;
}

export function renderReport(report: Report, tables: readonly Table[]): string {
  const { machine, disturbance } = report;
  const heading = [
    `## ${report.benchmark}, ${report.startedAt.slice(0, 10)}`,
    '',
    `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.os} (kernel ${machine.kernel}), Node ${machine.node.slice(1)}, ${machine.go ?? 'no Go'}; ` +
      `steal ${percent(disturbance.stealShare)}, idle ${percent(disturbance.idleShare)}, load before the run ${disturbance.loadBefore.toFixed(2)}; ` +
      `${Math.round(report.durationSeconds)} s in all.`,
    '',
  ];
  const failures = Object.entries(report.failures).map(([part, why]) => `**${part} was not measured:** ${why.split('\n')[0] ?? ''}\n`);
  return [...heading, ...tables.map(renderTable), ...failures].join('\n');
}

export async function writeReport(report: Report, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${JSON.stringify(report, null, 2)}\n`);
}

/**
 * Writes the JSON to `out`, or under `test/bench/results/` with the time in its name, and prints the tables.
 * @throws Error when a part could not be measured
 */
export async function publishReport(report: Report, tables: readonly Table[], out?: string): Promise<void> {
  const name = `${report.benchmark}-${report.startedAt.replaceAll(/[:.]/g, '-')}.json`;
  const path = out ?? fileURLToPath(new URL(`../results/${name}`, import.meta.url));
  await writeReport(report, path);
  process.stdout.write(renderReport(report, tables));
  progress(`the figures in full: ${path}`);
  const failures = Object.values(report.failures);
  if (failures.length > 0) throw new Error(failures.join('\n'));
}
