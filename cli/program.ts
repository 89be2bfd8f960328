import type { Command } from 'commander';

import { commands } from './commands/index.ts';
import { PLUGIN_COMMANDS } from './commands/kubectl.ts';
import { completeProgram, createProgram } from './grammar.ts';
import { processIo } from './kubectl/io.ts';

/** Builds the `parley` command. Each subcommand is one file in `commands/`, loaded only when it runs. */
export function createParley(): Command {
  const program = createProgram('parley', 'Voice agents whose configuration is Kubernetes resources.');
  for (const register of commands) register(program);
  return completeProgram(program, {
    typed: 'parley',
    io: () => processIo(new AbortController().signal),
    plugin: async (io) => (await import('./kubectl/main.ts')).createPlugin(io),
    elsewhere: PLUGIN_COMMANDS,
  });
}
