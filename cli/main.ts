/** The `parley` command. Each subcommand is one file in `commands/`, loaded only when it runs. */
import { Command } from 'commander';

import { commands } from './commands/index.ts';
import { reportFailure } from '../platform/user-error.ts';
import { writePrintable } from './printable.ts';
import { version } from '../platform/version.ts';

const program = new Command('parley')
  .description('Voice agents whose configuration is Kubernetes resources.')
  .version(version, '-V, --version')
  .enablePositionalOptions()
  .showHelpAfterError('(run with --help for what is allowed)');

// `parley … | head` closes the pipe early: that is the reader's right, not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 74));

writePrintable(process.stdout, process.stderr);

for (const register of commands) register(program);

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = reportFailure(error, process.stderr);
}
