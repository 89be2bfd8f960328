import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeEach, expect, it } from 'vitest';

import { testFolder } from '../test/support/folders.ts';
import { commandLine } from './processes.ts';
import { stopOrphans } from './watchdog.ts';

let folder: string;
beforeEach(() => void (folder = testFolder()));

function sleeper(name: string): number {
  const { pid } = spawn('/bin/sh', ['-c', `while :; do sleep 0.1; done # ${name}`], { stdio: 'ignore', detached: true });
  if (pid === undefined) throw new Error('not started');
  return pid;
}

it('ends what has the command line that was started, and leaves a stranger with its number alone', async () => {
  const [own, stranger] = [sleeper('own'), sleeper('stranger')];
  writeFileSync(join(folder, 'etcd.pid'), `${own}\n`);
  writeFileSync(join(folder, 'etcd.command'), `${(await commandLine(own))!}\n`);
  writeFileSync(join(folder, 'api.pid'), `${stranger}\n`);
  writeFileSync(join(folder, 'api.command'), 'node parley.mjs api\n');
  writeFileSync(join(folder, 'worker.pid'), '999999999\n');

  expect(await stopOrphans(folder)).toEqual(['etcd']);
  expect(await commandLine(own)).toBeUndefined();
  expect(await commandLine(stranger)).toContain('stranger');
  for (const component of ['etcd', 'api', 'worker']) expect(existsSync(join(folder, `${component}.pid`))).toBe(false);
  process.kill(stranger, 'SIGKILL');
});

it('has nothing to do where no stack ever ran', async () => {
  expect(await stopOrphans(join(folder, 'nowhere'))).toEqual([]);
});
