import { machineFacts, watchMachine } from '../harness/machine.ts';
import { progress } from '../harness/progress.ts';
import { publishReport, type Report } from '../harness/report.ts';
import { watchSignals } from '../harness/signals.ts';
import type { Table } from '../harness/table.ts';
import { backlog } from './backlog.ts';
import type { PartName } from './command.ts';
import { crashes } from './crashes.ts';
import { startHost } from './host.ts';
import { hung } from './hung.ts';
import type { Part, Scale } from './part.ts';
import { rate } from './rate.ts';
import { temporal } from './temporal.ts';

export interface WebhooksOptions {
  readonly parts: readonly PartName[];
  readonly scale: Scale;
  /** Where dispatchers leave their CPU profiles. */
  readonly profileFolder?: string;
  /** Path of the JSON. */
  readonly out?: string;
}

const parts: Readonly<Record<PartName, Part>> = { rate, backlog, hung, temporal, crashes };

/**
 * Runs the parts one after another, prints their tables and writes the JSON. A part that fails leaves the others alone.
 * @throws Error when any part failed, or a signal ended the run
 */
export async function runWebhooks(options: WebhooksOptions): Promise<void> {
  const startedAt = new Date();
  const machine = await machineFacts();
  const disturbanceSoFar = await watchMachine();
  const results: Record<string, unknown> = {};
  const failures: Record<string, string> = {};
  const tables: Table[] = [];
  const starting = startHost({ env: process.env, progress, profileFolder: options.profileFolder });
  const stopHost = (): Promise<void> => starting.then((host) => host.stop());
  const signals = watchSignals(stopHost);
  try {
    const host = await starting;
    for (const name of options.parts) {
      try {
        const watched = await watchMachine();
        const result = await parts[name]({ host, scale: options.scale, progress });
        results[name] = { machine: await watched(), figures: result.figures };
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
    benchmark: 'webhooks',
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
