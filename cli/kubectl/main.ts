/** `kubectl parley`: what kubectl runs as `kubectl-parley`, and `parley kubectl` by another name. */
import { Command } from 'commander';

import { reportFailure } from '../../platform/user-error.ts';
import { version } from '../../platform/version.ts';
import { addCalls } from './calls/command.ts';
import { addExplain } from './explain/command.ts';
import { addLogs } from './logs/command.ts';
import { addReport } from './report/command.ts';
import { addStatus } from './status/command.ts';
import { processIo, type Io } from './io.ts';

export function createPlugin(io: Io): Command {
  const plugin = new Command('kubectl parley')
    .description('Inspect Parley in a cluster, with your kubeconfig.')
    .version(version, '-V, --version')
    .enablePositionalOptions()
    .showHelpAfterError('(run with --help for what is allowed)');
  addStatus(plugin, io);
  addExplain(plugin, io);
  addLogs(plugin, io);
  addCalls(plugin, io);
  addReport(plugin, io);
  plugin
    .command('__complete', { hidden: true })
    .argument('[words...]')
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .action(async (words: readonly string[]) => {
      const { complete, printCompletion } = await import('./completion/complete.ts');
      io.out.write(printCompletion(await complete(plugin, words, io)));
    });
  return plugin;
}

/** @param args without the program's own name */
export async function runPlugin(args: readonly string[]): Promise<void> {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(130);
      controller.abort();
    });
  }
  try {
    await createPlugin(processIo(controller.signal)).parseAsync(args, { from: 'user' });
  } catch (error) {
    process.exitCode = controller.signal.aborted ? 130 : reportFailure(error, process.stderr);
  }
}
