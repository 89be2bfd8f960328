import type { Command } from 'commander';

import { examples } from '../grammar.ts';

/** Only the plugin has these commands. */
export const PLUGIN_COMMANDS: readonly string[] = ['kubectl status', 'kubectl logs', 'kubectl report'];

export function registerKubectl(program: Command): void {
  program
    .command('kubectl')
    .description('run the kubectl plugin (kubectl parley): status, explain, logs, calls, report, with your kubeconfig')
    .argument('[args...]')
    // The plugin has its own flags and its own --help.
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .addHelpText('after', examples('parley kubectl status -A'))
    .action(async (args: readonly string[]) => {
      const { runPlugin } = await import('../kubectl/main.ts');
      await runPlugin(args);
    });
}
