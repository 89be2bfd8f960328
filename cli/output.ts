/** Offers the formats of kubectl's `-o` to every command that has a result. */
import { Option, type Command } from 'commander';

import type { Io } from './kubectl/io.ts';

export type Format = 'table' | 'wide' | 'json' | 'yaml';

export interface OutputFlags {
  readonly output?: 'wide' | 'json' | 'yaml' | undefined;
}

export function outputOption(what = 'all data, for scripts; wide: more columns and rows'): Option {
  return new Option('-o, --output <format>', `json or yaml: ${what}`).choices(['json', 'yaml', 'wide']);
}

/** Creates `--json`, the older way to write `-o json`. */
export function jsonOption(): Option {
  return new Option('--json', 'the same as -o json').implies({ output: 'json' });
}

export function addOutput(command: Command, what?: string): Command {
  return command.addOption(outputOption(what));
}

export function formatOf(flags: OutputFlags): Format {
  return flags.output ?? 'table';
}

/** Tells whether the result is wanted for a script. */
export function wantsData({ output }: OutputFlags): boolean {
  return output === 'json' || output === 'yaml';
}

/** Writes `value` to standard output as one JSON or YAML value. */
export function printData(flags: OutputFlags, value: unknown): Promise<void> {
  return writeAs({ out: process.stdout }, flags.output === 'yaml' ? 'yaml' : 'json', value, () => '');
}

/** Writes `value` in the format that is asked for, or as `text` makes it for people. */
export async function writeAs(io: Pick<Io, 'out'>, format: Format, value: unknown, text: (wide: boolean) => string): Promise<void> {
  switch (format) {
    case 'json':
      io.out.write(`${JSON.stringify(value, undefined, 2)}\n`);
      return;
    case 'yaml':
      io.out.write(await toYaml(value));
      return;
    default:
      io.out.write(text(format === 'wide'));
  }
}

/** Loads the library on demand: that takes 30 ms, and most output is a table. */
export async function toYaml(value: unknown): Promise<string> {
  const { stringifyYaml } = await import('./yaml.ts');
  return stringifyYaml(value);
}
