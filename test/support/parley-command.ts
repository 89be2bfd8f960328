import { setImmediate } from 'node:timers/promises';

import { vi } from 'vitest';

import { runProgram } from '../../cli/grammar.ts';
import { createParley } from '../../cli/program.ts';
import type { Finished } from './run.ts';

const LISTENED = ['SIGINT', 'SIGTERM', 'unhandledRejection', 'uncaughtException'] as const;

let before: Promise<unknown> = Promise.resolve();

/**
 * Runs a command of `parley` in this process, in a tenth of the processor time. One runs at a time, for environment, streams and folder
 * are the process's; commands that read standard input or wait for signals can't run so.
 * @returns what the command prints and ends with
 */
export function parleyHere(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  folder = process.cwd(),
): Promise<Finished> {
  const finished = before.then(() => runHere(args, env, folder));
  before = finished.catch(() => undefined);
  return finished;
}

async function runHere(args: readonly string[], env: Readonly<Record<string, string | undefined>>, folder: string): Promise<Finished> {
  const { env: ownEnv, exitCode: ownCode } = process;
  const ownFolder = process.cwd();
  const written = { stdout: '', stderr: '' };
  const streams = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      written[name] += text.toString();
      return true;
    }),
  );
  const listening = LISTENED.map((event) => process.listeners(event as 'SIGINT'));
  // Some commands end their process when they are done.
  const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never);
  process.env = Object.fromEntries(Object.entries({ ...ownEnv, ...env }).filter(([, value]) => value !== undefined));
  process.exitCode = 0;
  try {
    process.chdir(folder);
    await runProgram(createParley(), args);
    await setImmediate();
    return { code: process.exitCode, ...written };
  } finally {
    for (const spy of [...streams, exit]) spy.mockRestore();
    // A command listens until its process ends, and Node warns of eleven that do.
    for (const [index, event] of LISTENED.entries())
      for (const listener of process.listeners(event as 'SIGINT')) if (!listening[index]!.includes(listener)) process.off(event, listener);
    process.chdir(ownFolder);
    Object.assign(process, { env: ownEnv, exitCode: ownCode });
  }
}
