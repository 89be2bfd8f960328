import type { Command } from 'commander';

import { addConnection, withConnection, type ConnectionFlags } from '../connection.ts';
import type { Io } from '../io.ts';
import { addOutput, formatOf, writeAs, type OutputFlags } from '../../output.ts';
import { styleOf } from '../style.ts';

const HELP = `
Of a Secret it shows whether it and the key exist, never a value.

Exit codes: 0 the resource is ready, 1 it is not ready, or does not exist.

Examples:
  kubectl parley explain agent/receptionist
  kubectl parley explain pwebhook/orders -n acme
  kubectl parley explain pkb/manuals -o yaml
`;

export function addExplain(plugin: Command, io: Io): void {
  const command = plugin
    .command('explain')
    .description("explain why a resource isn't ready and what to do; show its references, serving revision and last events")
    .argument(
      '<kind/name>',
      'as in agent/receptionist, or kind and name as two words; short names too: pagent, ptool, pphone, pkb, pwebhook, ptest',
    )
    .argument('[name]');
  addOutput(addConnection(command), 'everything that is known, for scripts')
    .addHelpText('after', HELP)
    .action(async (kind: string, name: string | undefined, flags: ConnectionFlags & OutputFlags) => {
      const [{ parseTarget }, { gatherExplanation }, { printExplanation }] = await Promise.all([
        import('./target.ts'),
        import('./surroundings.ts'),
        import('./print.ts'),
      ]);
      const target = parseTarget(name === undefined ? kind : `${kind}/${name}`);
      const explanation = await withConnection(flags, io, (connection) => gatherExplanation(connection, target, io.now()));
      await writeAs(io, formatOf(flags), explanation, () => printExplanation(explanation, { style: styleOf(io), now: io.now() }));
      io.exit(explanation.ready ? 0 : 1);
    });
}
