import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { describe, expect, it } from 'vitest';

import { ProcessSampler, parseReading } from './process-sampler.ts';

describe('parseReading', () => {
  it('is not misled by the name of the executable', () => {
    const stat = '42 (odd) name (x) R 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20 0 1 0 99 1000 200';
    expect(parseReading(stat, 'Name:\todd\nVmHWM:\t   9999 kB\nVmRSS:\t   2048 kB\n', 100)).toEqual({ cpuMs: 3000, rssBytes: 2048 * 1024 });
  });
});

describe.runIf(process.platform === 'linux')('ProcessSampler', () => {
  it('sees the work and the memory of another process, also after its end', async () => {
    const child = spawn(process.execPath, [
      '-e',
      'const kept = Buffer.alloc(64e6, 1); for (let end = Date.now() + 300; Date.now() < end; ); process.stdin.once("end", () => process.exit(kept[0] - 1)).resume(); console.log("worked")',
    ]);
    const sampler = new ProcessSampler({ pid: child.pid ?? 0, intervalMs: 20 });
    await once(child.stdout, 'data');
    const busy = sampler.use();
    child.stdin.end();
    await once(child, 'exit');
    const after = sampler.stop();
    expect(busy?.cpuMs).toBeGreaterThan(0);
    expect(busy?.rssMaxBytes).toBeGreaterThan(64e6);
    expect(after?.cpuMs).toBeGreaterThanOrEqual(busy?.cpuMs ?? Number.NaN);
  });

  it('knows nothing of a process that never was', () => {
    expect(new ProcessSampler({ pid: 2 ** 30 }).stop()).toBeUndefined();
  });
});
