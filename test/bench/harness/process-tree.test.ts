import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { describe, expect, it } from 'vitest';

import { parseNode, treeCpuMs } from './process-tree.ts';

describe('parseNode', () => {
  it('is not misled by the name of the executable, and adds what ended children used', () => {
    expect(parseNode('42 (odd) name (x) R 7 2 3 4 5 6 7 8 9 10 250 50 20 5 20 0 1 0 99 1000 200')).toEqual({ parent: 7, ticks: 325 });
  });
});

describe.runIf(process.platform === 'linux')('treeCpuMs', () => {
  it('has the work of a child that has ended', async () => {
    const before = treeCpuMs(process.pid) ?? Number.NaN;
    await promisify(execFile)(process.execPath, ['-e', 'for (const end = Date.now() + 300; Date.now() < end; );']);
    expect(treeCpuMs(process.pid)).toBeGreaterThan(before);
  });

  it('knows nothing of a process that never was', () => {
    expect(treeCpuMs(2 ** 30)).toBeUndefined();
  });
});
