/** The `parley` command. Each subcommand is one file in `commands/`, loaded only when it runs. */
import { commands } from './commands/index.ts';
import { completeProgram, createProgram, runProgram } from './grammar.ts';
import { processIo } from './kubectl/io.ts';
import { writePrintable } from './printable.ts';

const program = createProgram('parley', 'Voice agents whose configuration is Kubernetes resources.');

// `parley … | head` closes the pipe early: that is the reader's right, not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 74));

writePrintable(process.stdout, process.stderr);

for (const register of commands) register(program);
completeProgram(program, { typed: 'parley', io: () => processIo(new AbortController().signal) });

await runProgram(program, process.argv.slice(2));
