import type { Command } from 'commander';

import { version } from '../../platform/version.ts';

export function registerVersion(program: Command): void {
  program
    .command('version')
    .description('print the version of parley and of Node.js')
    .action(() => {
      process.stdout.write(`parley ${version} (node ${process.version})\n`);
    });
}
