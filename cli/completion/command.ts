import { Argument, type Command } from 'commander';

import type { Io } from '../kubectl/io.ts';
import type { PluginOf } from './complete.ts';
import { SHELLS, type Shell } from './scripts.ts';

const help = (typed: string): string => `
Examples:
  source <(${typed} completion bash)
  ${typed} completion zsh > "\${fpath[1]}/_${typed}"
  ${typed} completion fish > ~/.config/fish/completions/${typed}.fish
`;

export interface CompletionOptions {
  /** Name of the program as it is typed where the script is used: `parley`, `kubectl-parley`. */
  readonly typed: string;
  readonly io: () => Io;
  readonly plugin?: PluginOf;
}

export function addCompletion(program: Command, { typed, io, plugin }: CompletionOptions): void {
  program
    .command('completion')
    .description('print a script that lets a shell complete commands, flags and names on Tab')
    .addArgument(new Argument('<shell>', 'which shell').choices(SHELLS))
    .addHelpText('after', help(typed))
    .action(async (shell: Shell) => {
      const { completionScript } = await import('./scripts.ts');
      io().out.write(completionScript(shell, typed));
    });
  program
    .command('__complete', { hidden: true })
    .argument('[words...]')
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .action(async (words: readonly string[]) => {
      const { complete, printCompletion } = await import('./complete.ts');
      io().out.write(printCompletion(await complete(program, words, io(), plugin)));
    });
}
