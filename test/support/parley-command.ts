import { createParley } from '../../cli/program.ts';
import { runProgram } from '../../cli/grammar.ts';
import type { Finished } from './run.ts';

let before: Promise<unknown> = Promise.resolve();

/**
 * A command of `parley` in this process, which takes a tenth of the processor time: what it prints and ends with. One at a time, for
 * the environment and the streams are the process's. Not for what reads its standard input, waits for signals, or ends its process.
 */
export function parleyHere(args: readonly string[], env: Readonly<Record<string, string | undefined>>): Promise<Finished> {
  const finished = before.then(() => runHere(args, env));
  before = finished;
  return finished;
}

async function runHere(args: readonly string[], env: Readonly<Record<string, string | undefined>>): Promise<Finished> {
  const { env: ownEnv, exitCode: ownCode, stdout, stderr } = process;
  const own = [stdout.write, stderr.write] as const;
  const written = { stdout: '', stderr: '' };
  const writer = (name: 'stdout' | 'stderr') => (text: string | Uint8Array) => {
    written[name] += text.toString();
    return true;
  };
  process.env = Object.fromEntries(Object.entries({ ...ownEnv, ...env }).filter(([, value]) => value !== undefined));
  process.exitCode = undefined;
  stdout.write = writer('stdout');
  stderr.write = writer('stderr');
  try {
    await runProgram(createParley(), args);
    return { code: Number(process.exitCode ?? 0), ...written };
  } finally {
    [stdout.write, stderr.write] = own;
    process.exitCode = ownCode;
    process.env = ownEnv;
  }
}
