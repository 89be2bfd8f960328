import type { Command } from 'commander';

import { addConnection } from '../connection.ts';
import { wholeNumber } from '../../options.ts';
import type { Io } from '../io.ts';
import type { ReportFlags } from './run.ts';

const HELP = `
The report does not read the contents of Secrets. It contains what you may see, and lists what is missing. Without -n it covers all
namespaces that you may see.

Examples:
  kubectl parley report
  kubectl parley report -n acme --file acme.tar.gz
  kubectl parley report --with-prompts --log-lines 10000
`;

export function addReport(plugin: Command, io: Io): void {
  const command = plugin
    .command('report')
    .description('write a support bundle (tar.gz) with versions, resources, events, the installation and logs; secrets are masked')
    .option('-f, --file <file>', 'file to write (default: parley-report-<time>.tar.gz in this folder)')
    .option('--with-prompts', 'include prompts and texts of agents, which are masked by default')
    .option('--no-logs', 'leave out the logs')
    .option('--log-lines <count>', 'number of last lines of each pod', wholeNumber(1, 999_999_999), 2_000);
  addConnection(command, { allNamespaces: true })
    .addHelpText('after', HELP)
    .action(async (flags: ReportFlags) => {
      const { runReport } = await import('./run.ts');
      await runReport(flags, io);
    });
}
