import type { Command } from 'commander';

import { addConnection, type ConnectionFlags } from '../connection.ts';
import { wholeNumber } from '../../options.ts';
import type { Io } from '../io.ts';

export interface ReportFlags extends ConnectionFlags {
  readonly file?: string;
  readonly withPrompts?: true;
  /** false: --no-logs */
  readonly logs: boolean;
  readonly logLines: number;
}

const help = `
Of Secrets it has nothing but what other objects say of them; their contents are not read. Needs no more than you may see: what is
missing is listed. Without -n it looks into all namespaces that you may see.

Examples:
  kubectl parley report
  kubectl parley report -n acme --file acme.tar.gz
  kubectl parley report --with-prompts --log-lines 10000
`;

export function addReport(plugin: Command, io: Io): void {
  const command = plugin
    .command('report')
    .description('a support bundle (tar.gz): versions, resources, events, the installation, logs; secrets are masked')
    .option('-f, --file <file>', 'where it goes (default: parley-report-<time>.tar.gz in this folder)')
    .option('--with-prompts', 'with prompts and what agents say, which are masked otherwise')
    .option('--no-logs', 'without logs')
    .option('--log-lines <count>', 'so many of the last lines of each pod', wholeNumber(1, 999_999_999), 2_000);
  addConnection(command, { allNamespaces: true })
    .addHelpText('after', help)
    .action(async (flags: ReportFlags) => {
      const { runReport } = await import('./run.ts');
      await runReport(flags, io);
    });
}
