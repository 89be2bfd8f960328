import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

import { onTestFinished } from 'vitest';

import { parleyEntry } from './stack.ts';

export interface RoleProcess {
  readonly child: ChildProcess;
  /** Ends the process as a crash does; one that has ended already is left alone. */
  kill(): Promise<void>;
}

/** Runs a role in a process of its own, so that it can be killed; its stderr is shown. It is gone after the test. */
export function spawnRole(role: string, env: Readonly<Record<string, string | undefined>>): RoleProcess {
  const child = spawn(process.execPath, [parleyEntry, role], {
    env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exited = once(child, 'exit');
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  onTestFinished(kill);
  return { child, kill };
}
