import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { suiteFolder } from '../../support/folders.ts';
import { startChild, type Child } from './child.ts';

const alive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('startChild', () => {
  const folder = suiteFolder();

  const node = (script: string): Child =>
    startChild({ file: process.execPath, args: ['-e', script], logFile: join(folder, 'logs', `${Math.random()}.log`) });
  it('waits until the child is as wanted, and stops it', async () => {
    const child = node('console.log("ready"); setInterval(() => {}, 1000)');
    await child.until('ready', async () => child.log().includes('ready'));
    expect(alive(child.pid)).toBe(true);
    await child.stop();
    expect(alive(child.pid)).toBe(false);
    await child.stop();
  });

  it('reports why a child ended before it was ready', async () => {
    const child = node('console.error("no such port"); process.exit(3)');
    await expect(child.until('ready', async () => false)).rejects.toThrow(/exit code 3[^]*no such port/);
  });

  it('does not wait for ever, and counts a failing look as no', async () => {
    const child = node('setInterval(() => {}, 1000)');
    await expect(child.until('ready', () => Promise.reject(new Error('refused')), 50)).rejects.toThrow('was not ready within 50 ms');
    await child.stop();
  });

  it('reports a program that does not exist', async () => {
    const child = startChild({ file: join(folder, 'absent'), args: [], logFile: join(folder, 'absent.log') });
    await expect(child.until('ready', async () => false)).rejects.toThrow("can't be started");
    await child.stop();
  });
});
