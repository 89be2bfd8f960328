/** Runs the process of the `parley` command. */
import { runProgram } from './grammar.ts';
import { createParley } from './program.ts';
import { prepareStandardStreams } from './standard-streams.ts';

prepareStandardStreams();

await runProgram(createParley(), process.argv.slice(2));
