/** The `parley` command. Each subcommand is one file in `commands/`, loaded only when it runs. */
import { commands } from './commands/index.ts';
import { completeProgram, createProgram, runProgram } from './grammar.ts';
import { processIo } from './kubectl/io.ts';
import { prepareStandardStreams } from './standard-streams.ts';

const program = createProgram('parley', 'Voice agents whose configuration is Kubernetes resources.');

prepareStandardStreams();

for (const register of commands) register(program);
completeProgram(program, { typed: 'parley', io: () => processIo(new AbortController().signal) });

await runProgram(program, process.argv.slice(2));
