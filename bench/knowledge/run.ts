import { fileURLToPath } from 'node:url';

import { machineFacts, watchMachine } from '../harness/machine.ts';
import { renderReport, writeReport, type Report } from '../harness/report.ts';
import type { Table } from '../harness/table.ts';
import type { PartName } from './command.ts';
import type { Part } from './part.ts';
import { quality } from './quality.ts';

export interface KnowledgeOptions {
  readonly parts: readonly PartName[];
  readonly dataFolder: string | undefined;
  /** Path of the JSON. */
  readonly out?: string;
}

const parts: Readonly<Record<PartName, Part>> = { quality };

/**
 * Runs the parts one after another, prints their tables and writes the JSON. A part that fails leaves the others alone.
 * @throws Error when any part failed
 */
export async function runKnowledge(options: KnowledgeOptions): Promise<void> {
  const startedAt = new Date();
  const machine = await machineFacts();
  const disturbanceSoFar = await watchMachine();
  const results: Record<string, unknown> = {};
  const failures: Record<string, string> = {};
  const tables: Table[] = [];
  for (const name of options.parts) {
    try {
      const result = await parts[name]({ dataFolder: options.dataFolder, progress });
      results[name] = result.figures;
      tables.push(...result.tables);
    } catch (error) {
      failures[name] = error instanceof Error ? error.message : String(error);
    }
  }
  const report: Report = {
    benchmark: 'knowledge',
    startedAt: startedAt.toISOString(),
    durationSeconds: (Date.now() - startedAt.getTime()) / 1000,
    machine,
    disturbance: await disturbanceSoFar(),
    scale: { parts: options.parts },
    results,
    failures,
  };
  const name = `knowledge-${report.startedAt.replaceAll(/[:.]/g, '-')}.json`;
  const path = options.out ?? fileURLToPath(new URL(`../results/${name}`, import.meta.url));
  await writeReport(report, path);
  process.stdout.write(renderReport(report, tables));
  progress(`the figures in full: ${path}`);
  if (Object.keys(failures).length > 0) throw new Error(Object.values(failures).join('\n'));
}

function progress(line: string): void {
  process.stderr.write(`bench: ${line}\n`);
}
