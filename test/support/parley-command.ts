import { setImmediate } from 'node:timers/promises';

import { createParley } from '../../cli/program.ts';
import { runProgram } from '../../cli/grammar.ts';
import type { Finished } from './run.ts';

let before: Promise<unknown> = Promise.resolve();

/**
 * A command of `parley` in this process, which takes a tenth of the processor time: what it prints and ends with. One at a time, for
 * environment, streams and folder are the process's. Not for what reads its standard input or waits for signals.
 */
export function parleyHere(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  folder = process.cwd(),
): Promise<Finished> {
  const finished = before.then(() => runHere(args, env, folder));
  before = finished;
  return finished;
}

async function runHere(args: readonly string[], env: Readonly<Record<string, string | undefined>>, folder: string): Promise<Finished> {
  const { env: ownEnv, exit: ownExit, exitCode: ownCode, stdout, stderr } = process;
  const ownFolder = process.cwd();
  const own = [stdout.write, stderr.write] as const;
  const written = { stdout: '', stderr: '' };
  const writer = (name: 'stdout' | 'stderr') => (text: string | Uint8Array) => {
    written[name] += text.toString();
    return true;
  };
  process.env = Object.fromEntries(Object.entries({ ...ownEnv, ...env }).filter(([, value]) => value !== undefined));
  process.exitCode = undefined;
  process.exit = (() => undefined) as unknown as typeof process.exit;
  process.chdir(folder);
  stdout.write = writer('stdout');
  stderr.write = writer('stderr');
  try {
    await runProgram(createParley(), args);
    // Some commands end their process then.
    await setImmediate();
    return { code: Number(process.exitCode ?? 0), ...written };
  } finally {
    [stdout.write, stderr.write] = own;
    process.chdir(ownFolder);
    Object.assign(process, { env: ownEnv, exit: ownExit, exitCode: ownCode });
  }
}
