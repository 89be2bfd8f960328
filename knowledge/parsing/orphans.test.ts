import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { expect, it, onTestFinished } from 'vitest';

import { eventually } from '../../test/support/eventually.ts';

function isRunning(pid: number): boolean {
  try {
    // A zombie has ended: it only waits for its parent to take notice.
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

it.runIf(process.platform === 'linux')('a busy parser ends with the process that started it', async () => {
  const { status } = spawnSync('setpriv', ['--pdeathsig', 'KILL', 'true']);
  expect(status, 'setpriv is missing: install util-linux').toBe(0);
  const parent = spawn(process.execPath, [fileURLToPath(new URL('testing/busy-parent.ts', import.meta.url))], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void parent.kill('SIGKILL'));
  await once(parent.stdout, 'data');
  const children = readFileSync(`/proc/${parent.pid}/task/${parent.pid}/children`, 'utf8').trim().split(' ').map(Number);
  onTestFinished(() => children.filter(isRunning).forEach((pid) => process.kill(pid, 'SIGKILL')));
  expect(children.map(isRunning)).toEqual([true]);
  parent.kill('SIGKILL');
  await eventually(() => expect(children.map(isRunning)).toEqual([false]));
});
