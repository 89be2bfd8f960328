import type { Command } from 'commander';

import { examples } from '../grammar.ts';
import { addOutput, formatOf, writeAs, type OutputFlags } from '../output.ts';
import { version } from '../../platform/version.ts';

export function registerVersion(program: Command): void {
  addOutput(program.command('version'))
    .description('print the version of parley and of Node.js')
    .addHelpText('after', examples('parley version'))
    .action(async (flags: OutputFlags) => {
      const text = (): string => `parley ${version} (node ${process.version})\n`;
      await writeAs({ out: process.stdout }, formatOf(flags), { version, node: process.version }, text);
    });
}
