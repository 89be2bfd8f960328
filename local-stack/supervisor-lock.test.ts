import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeEach, expect, it, onTestFinished } from 'vitest';

import { eventually } from '../test/support/eventually.ts';
import { testFolder } from '../test/support/folders.ts';
import { commandLine } from './processes.ts';
import { runningSupervisor, takeFolder } from './supervisor-lock.ts';

let folder: string;
let pidFile: string;
beforeEach(() => {
  folder = testFolder();
  pidFile = join(folder, 'supervisor.pid');
});

it('is taken once, and free again after its release', async () => {
  const taken = await takeFolder(pidFile);
  expect(readFileSync(pidFile, 'utf8').trim()).toBe(String(process.pid));
  expect(readdirSync(folder)).toEqual(['supervisor.pid']);
  if ('release' in taken) taken.release();
  expect(existsSync(pidFile)).toBe(false);
});

it('is held by a living supervisor only', async () => {
  writeFileSync(pidFile, '999999999\n');
  expect(await runningSupervisor(pidFile)).toBeUndefined();
  // Some other program has this number by now.
  writeFileSync(pidFile, `${process.ppid}\n`);
  expect(await takeFolder(pidFile)).toHaveProperty('release');

  const other = await anotherSupervisor();
  writeFileSync(pidFile, `${other}\n`);
  expect(await takeFolder(pidFile)).toEqual({ takenBy: other });
});

it('stays with the faster of two that find a dead supervisor', async () => {
  const other = await anotherSupervisor();
  writeFileSync(pidFile, '999999999\n');
  // The other process has read the number, and is looking whether there is such a process.
  const taking = takeFolder(pidFile);
  writeFileSync(pidFile, `${other}\n`);
  expect(await taking).toEqual({ takenBy: other });
  expect(readFileSync(pidFile, 'utf8')).toBe(`${other}\n`);
  expect(readdirSync(folder)).toEqual(['supervisor.pid']);
});

async function anotherSupervisor(): Promise<number> {
  const child = spawn('/bin/sh', ['-c', 'while :; do sleep 0.1; done', 'dist/parley.mjs', 'dev']);
  onTestFinished(() => void child.kill('SIGKILL'));
  await eventually(async () => {
    expect(await commandLine(child.pid!)).toContain('parley.mjs dev');
  });
  return child.pid!;
}
