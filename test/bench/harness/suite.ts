/** Gives all benchmarks their options, servers that are started when a part asks for them, tables and JSON. */
import { Command, Option } from 'commander';

import { partsOf, wholeNumber } from './flags.ts';
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

export interface PartContext<Scale, Host, Flags> {
  readonly scale: Scale;
  readonly flags: Flags;
  /** Starts the servers when first asked for. */
  readonly host: () => Promise<Host>;
  /** Prints one line about what is being done now. */
  readonly progress: (line: string) => void;
}

export interface Suite<Scale extends object, Host extends { stop(): Promise<void> }, Flags extends object> {
  readonly name: string;
  readonly description: string;
  /** Parts in the order in which they run. */
  readonly parts: Readonly<Record<string, (context: PartContext<Scale, Host, Flags>) => Promise<PartResult>>>;
  /** Parts that run only where `--only` names them. */
  readonly onRequest?: readonly string[];
  readonly full: Scale;
  /** Little work shows that everything works; it is too little for a figure. */
  readonly quick: Scale;
  /** Options that replace numbers of the scale, by their names, with a description. */
  readonly numbers: Readonly<Record<string, readonly [about: string, replaced: (value: number) => Partial<Scale>]>>;
  /** All other options, which become `flags`. */
  readonly options?: readonly Option[];
  /** Absent where no part needs servers that others need, too. */
  readonly start?: (options: { readonly scale: Scale; readonly flags: Flags }) => Promise<Host>;
}

/** Gives a part the servers. */
export function onServers<Scale, Host, Flags>(
  part: (context: Omit<PartContext<Scale, Host, Flags>, 'host'> & { readonly host: Host }) => Promise<PartResult>,
): (context: PartContext<Scale, Host, Flags>) => Promise<PartResult> {
  return async (context) => part({ ...context, host: await context.host() });
}

/** @returns a function that runs the suite with the arguments of its command line */
export function benchmark<Scale extends object, Host extends { stop(): Promise<void> }, Flags extends object>(
  suite: Suite<Scale, Host, Flags>,
): (args: readonly string[]) => Promise<void> {
  const { name, parts, onRequest = [], full, quick, numbers } = suite;
  const names = Object.keys(parts);
  const replacements = Object.entries(numbers).map(([flag, [about, replaced]]) => ({
    option: new Option(`--${flag} <n>`, about).argParser(wholeNumber),
    replaced,
  }));
  const command = new Command(`bench ${name}`)
    .description(suite.description)
    .option('--quick', 'a short run that shows that everything works; its figures mean little')
    .option('--out <path>', `where the JSON goes (test/bench/results/${name}-<time>.json)`)
    .option(
      '--only <parts>',
      `which parts to run: ${names.join(', ')}`,
      partsOf(names),
      names.filter((part) => !onRequest.includes(part)),
    );
  for (const option of [...replacements.map(({ option: each }) => each), ...(suite.options ?? [])]) command.addOption(option);
  return async (args) => {
    command.parse(args, { from: 'user' });
    const flags = command.opts<Flags & { readonly quick?: true; readonly out?: string; readonly only: readonly string[] }>();
    const given = replacements.map(({ option, replaced }) => {
      const value = command.getOptionValue(option.attributeName()) as number | undefined;
      return value === undefined ? {} : replaced(value);
    });
    await run(suite, { flags, scale: Object.assign({}, flags.quick ? quick : full, ...given) as Scale });
  };
}

/**
 * Runs the parts one after another, prints their tables and writes the JSON. A part that fails leaves the others alone.
 * @throws Error when any part failed, or a signal ended the run
 */
async function run<Scale extends object, Host extends { stop(): Promise<void> }, Flags extends object>(
  { name, parts, start }: Suite<Scale, Host, Flags>,
  { flags, scale }: { readonly flags: Flags & { readonly only: readonly string[]; readonly out?: string }; readonly scale: Scale },
): Promise<void> {
  const startedAt = new Date();
  const machine = await machineFacts();
  const disturbanceSoFar = await watchMachine();
  const results: Record<string, unknown> = {};
  const failures: Record<string, string> = {};
  const tables: Table[] = [];
  let starting: Promise<Host> | undefined;
  const host = (): Promise<Host> => {
    if (start === undefined) throw new Error(`${name} has no servers`);
    return (starting ??= start({ scale, flags }));
  };
  const stop = async (): Promise<void> => (await starting)?.stop();
  const signals = watchSignals(stop);
  try {
    for (const part of flags.only) {
      try {
        const watched = await watchMachine();
        const { figures, tables: more } = await parts[part]!({ scale, flags, host, progress });
        results[part] = { machine: await watched(), figures };
        tables.push(...more);
      } catch (error) {
        failures[part] = `${part}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
        progress(`${part} failed: ${String(error)}`);
      }
    }
  } finally {
    signals.forget();
    await stop().catch((error: unknown) => progress(`the servers could not be stopped: ${String(error)}`));
  }
  if (signals.interrupted()) throw new Error('interrupted: nothing was written');
  await publishReport(
    {
      benchmark: name,
      startedAt: startedAt.toISOString(),
      durationSeconds: (Date.now() - startedAt.getTime()) / 1000,
      machine,
      disturbance: await disturbanceSoFar(),
      scale: { parts: flags.only, ...scale },
      results,
      failures,
    },
    tables,
    flags.out,
  );
}
