import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { onTestFinished } from 'vitest';

import { parleyEntry, repository } from './stack.ts';

export interface RoleProcess {
  readonly child: ChildProcess;
  /** Ends it as a crash does; one that has ended already is left alone. */
  kill(): Promise<void>;
  /** The longest turn of its event loop since the last call, in milliseconds of processor time: see loop-probe.ts. */
  longestTurn(): Promise<number>;
}

/** A role in a process of its own, so that it can be killed; what it writes to stderr is shown. It is gone after the test. */
export function spawnRole(role: string, env: Readonly<Record<string, string | undefined>>): RoleProcess {
  const probe = pathToFileURL(join(repository, 'test/support/loop-probe.ts')).href;
  const child = spawn(process.execPath, [`--import=${probe}`, parleyEntry, role], {
    env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit');
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  onTestFinished(kill);
  const longestTurn = async (): Promise<number> => {
    child.send('longest turn');
    const [ms] = (await once(child, 'message')) as [number];
    return ms;
  };
  return { child, kill, longestTurn };
}
