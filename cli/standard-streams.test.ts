import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { expect, it } from 'vitest';

import { run } from '../test/support/run.ts';
import { parleyEntry } from '../test/support/stack.ts';

it('keeps the exit code of a command whose standard error is closed', async () => {
  const child = spawn(process.execPath, [parleyEntry, 'config', 'unknown'], { stdio: ['ignore', 'ignore', 'pipe'] });
  child.stderr.destroy();
  expect(await once(child, 'exit')).toEqual([2, null]);
});

it.runIf(process.platform === 'linux')('says that its output could not be written', async () => {
  const done = await run('/bin/sh', ['-c', 'exec "$0" "$@" > /dev/full', process.execPath, parleyEntry, 'config']);
  expect([done.code, done.stderr]).toEqual([74, expect.stringMatching(/^parley: the output can't be written: ENOSPC/)]);
});
