import type { Command } from 'commander';

import { addConnection, withConnection, type ConnectionFlags } from '../connection.ts';
import type { Io } from '../io.ts';
import { addOutput, formatOf, writeAs, type OutputFlags } from '../output.ts';
import { styleOf } from '../style.ts';

const help = `
Of a Secret it says whether it and the key are there, never what is in it.

Exit codes: 0 it is ready, 1 it is not, or can't be found.

Examples:
  kubectl parley explain agent/receptionist
  kubectl parley explain whsub/orders -n acme
  kubectl parley explain kbase/manuals -o yaml
`;

export function addExplain(plugin: Command, io: Io): void {
  const command = plugin
    .command('explain')
    .description("why a resource isn't ready and what to do; what it refers to, what refers to it, what serves, and the last events")
    .argument('<kind/name>', 'as in agent/receptionist; or kind and name apart; short names too: ptool, pn, kbase, whsub')
    .argument('[name]');
  addOutput(addConnection(command), 'everything that is known, for scripts')
    .addHelpText('after', help)
    .action(async (kind: string, name: string | undefined, flags: ConnectionFlags & OutputFlags) => {
      const [{ parseTarget }, { gatherExplanation }, { printExplanation }, { loadConfig }] = await Promise.all([
        import('./target.ts'),
        import('./surroundings.ts'),
        import('./print.ts'),
        import('../../../platform/config/config.ts'),
      ]);
      const target = parseTarget(name === undefined ? kind : `${kind}/${name}`);
      const { PARLEY_LEASE_NAMESPACE: leaseNamespace } = loadConfig({ PARLEY_LEASE_NAMESPACE: io.env['PARLEY_LEASE_NAMESPACE'] });
      const explanation = await withConnection(flags, io, (connection) =>
        gatherExplanation(connection, { target, leaseNamespace, now: io.now() }),
      );
      await writeAs(io, formatOf(flags), explanation, () => printExplanation(explanation, { style: styleOf(io), now: io.now() }));
      io.exit(explanation.ready ? 0 : 1);
    });
}
