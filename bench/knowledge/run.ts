import { machineFacts, watchMachine } from '../harness/machine.ts';
import { progress } from '../harness/progress.ts';
import { publishReport, type Report } from '../harness/report.ts';
import { watchSignals } from '../harness/signals.ts';
import type { Table } from '../harness/table.ts';
import type { PartName } from './command.ts';
import { pdf, queue, throughput } from './documents.ts';
import { startHost, type Host } from './host.ts';
import { indexing } from './indexing.ts';
import type { Part, PartContext, Scale } from './part.ts';
import { quality } from './quality.ts';
import { search } from './search.ts';

export interface KnowledgeOptions {
  readonly parts: readonly PartName[];
  readonly scale: Scale;
  readonly dataFolder: string | undefined;
  /** Path of the JSON. */
  readonly out?: string;
}

const parts: Readonly<Record<PartName, Part>> = { quality, indexing, search, pdf, queue, throughput };

/**
 * Runs the parts one after another, prints their tables and writes the JSON. A part that fails leaves the others alone.
 * @throws Error when any part failed, or a signal ended the run
 */
export async function runKnowledge(options: KnowledgeOptions): Promise<void> {
  const startedAt = new Date();
  const machine = await machineFacts();
  const disturbanceSoFar = await watchMachine();
  const results: Record<string, unknown> = {};
  const failures: Record<string, string> = {};
  const tables: Table[] = [];
  let host: Promise<Host> | undefined;
  const stopHost = async (): Promise<void> => {
    await host?.then((started) => started.stop());
  };
  const signals = watchSignals(stopHost);
  const context: PartContext = {
    dataFolder: options.dataFolder,
    scale: options.scale,
    host: () => (host ??= startHost(process.env, progress)),
    progress,
  };
  try {
    for (const name of options.parts) {
      try {
        const result = await parts[name](context);
        results[name] = result.figures;
        tables.push(...result.tables);
      } catch (error) {
        failures[name] = `${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
        progress(`${name} failed: ${String(error)}`);
      }
    }
  } finally {
    signals.forget();
    await stopHost().catch((error: unknown) => progress(`the servers could not be stopped: ${String(error)}`));
  }
  if (signals.interrupted()) throw new Error('interrupted: nothing was written');
  const report: Report = {
    benchmark: 'knowledge',
    startedAt: startedAt.toISOString(),
    durationSeconds: (Date.now() - startedAt.getTime()) / 1000,
    machine,
    disturbance: await disturbanceSoFar(),
    scale: { parts: options.parts, ...options.scale },
    results,
    failures,
  };
  await publishReport(report, tables, options.out);
}
