/** Formats of kubectl's `-o`. */
import { Option, type Command } from 'commander';

import type { Io } from './io.ts';

export type Format = 'table' | 'wide' | 'json' | 'yaml';

export interface OutputFlags {
  readonly output?: 'wide' | 'json' | 'yaml';
}

export function addOutput(command: Command, what = 'all data, for scripts; wide: more columns and rows'): Command {
  return command.addOption(new Option('-o, --output <format>', `json or yaml: ${what}`).choices(['json', 'yaml', 'wide']));
}

export function formatOf(flags: OutputFlags): Format {
  return flags.output ?? 'table';
}

/** Writes `value` as it is asked for, or as `text` makes it for people. */
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

/** Loaded on demand: that takes 30 ms, and most output is a table. */
export async function toYaml(value: unknown): Promise<string> {
  const { stringifyYaml } = await import('./yaml.ts');
  return stringifyYaml(value);
}
