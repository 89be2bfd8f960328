import type { Command } from 'commander';

import { addConnection, withConnection, type ConnectionFlags } from '../connection.ts';
import type { Io } from '../io.ts';
import { addOutput, formatOf, writeAs, type OutputFlags } from '../../output.ts';
import { styleOf } from '../style.ts';

const HELP = `
Exit codes: 0 everything that you may see is ready, 1 something is not, or the cluster can't be reached.

Needs only the role \`view\` in one namespace: the output names what you may not see.

Examples:
  kubectl parley status
  kubectl parley status -n acme
  kubectl parley status -A -o wide
  kubectl parley status -o json | jq '.problems'
`;

export function addStatus(plugin: Command, io: Io): void {
  const command = plugin
    .command('status')
    .description('show what is installed and ready, what is not, and what to do; exit code 1 when something is not ready');
  addOutput(addConnection(command, { allNamespaces: true }))
    .addHelpText('after', HELP)
    .action(async (flags: ConnectionFlags & OutputFlags) => {
      const [{ gatherStatus }, { printStatus }, { Reader }] = await Promise.all([
        import('./gather.ts'),
        import('./print.ts'),
        import('../../cluster/reader.ts'),
      ]);
      const report = await withConnection(flags, io, (connection) => gatherStatus(new Reader(connection.transport), connection, io.now()));
      await writeAs(io, formatOf(flags), report, (wide) => printStatus(report, { wide, now: io.now(), style: styleOf(io) }));
      io.exit(report.ready ? 0 : 1);
    });
}
