import { machineFacts, watchMachine } from './machine.ts';
import { progress } from './progress.ts';
import { publishReport } from './report.ts';
import { watchSignals } from './signals.ts';
import type { Table } from './table.ts';

export interface PartResult {
  /** Everything that was measured, for the JSON. */
  readonly figures: unknown;
  readonly tables: readonly Table[];
}

export interface RunPartsOptions<Name extends string> {
  readonly benchmark: string;
  readonly parts: readonly Name[];
  readonly run: (name: Name) => Promise<PartResult>;
  /** Stops the servers, where there are any; also when a signal ends the run. */
  readonly stop?: () => Promise<void>;
  readonly scale: object;
  /** Path of the JSON. */
  readonly out?: string | undefined;
}

/**
 * Runs the parts one after another, prints their tables and writes the JSON. A part that fails leaves the others alone.
 * @throws Error when any part failed, or a signal ended the run
 */
export async function runParts<Name extends string>({
  benchmark,
  parts,
  run,
  stop = async () => undefined,
  scale,
  out,
}: RunPartsOptions<Name>): Promise<void> {
  const startedAt = new Date();
  const machine = await machineFacts();
  const disturbanceSoFar = await watchMachine();
  const results: Record<string, unknown> = {};
  const failures: Record<string, string> = {};
  const tables: Table[] = [];
  const signals = watchSignals(stop);
  try {
    for (const name of parts) {
      try {
        const watched = await watchMachine();
        const { figures, tables: more } = await run(name);
        results[name] = { machine: await watched(), figures };
        tables.push(...more);
      } catch (error) {
        failures[name] = `${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
        progress(`${name} failed: ${String(error)}`);
      }
    }
  } finally {
    signals.forget();
    await stop().catch((error: unknown) => progress(`the servers could not be stopped: ${String(error)}`));
  }
  if (signals.interrupted()) throw new Error('interrupted: nothing was written');
  await publishReport(
    {
      benchmark,
      startedAt: startedAt.toISOString(),
      durationSeconds: (Date.now() - startedAt.getTime()) / 1000,
      machine,
      disturbance: await disturbanceSoFar(),
      scale: { parts, ...scale },
      results,
      failures,
    },
    tables,
    out,
  );
}
