import type { Command } from 'commander';

import { examples } from '../grammar.ts';
import { version } from '../../platform/version.ts';

export function registerVersion(program: Command): void {
  program
    .command('version')
    .description('print the version of parley and of Node.js')
    .addHelpText('after', examples('parley version'))
    .action(() => {
      process.stdout.write(`parley ${version} (node ${process.version})\n`);
    });
}
