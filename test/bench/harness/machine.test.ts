import { describe, expect, it } from 'vitest';

import { cpuShares, machineFacts, parseCpuTimes } from './machine.ts';

describe('parseCpuTimes', () => {
  it('reads the line for all cores and leaves guest times out of the total', () => {
    const text = 'cpu  100 10 50 800 20 3 7 10 40 5\ncpu0 1 1 1 1 1 1 1 1 1 1\nintr 5\n';
    expect(parseCpuTimes(text)).toEqual({ total: 1000, idle: 820, steal: 10 });
  });

  it('knows that there is nothing to read', () => {
    expect(parseCpuTimes('')).toBeUndefined();
  });
});

describe('cpuShares', () => {
  it('is the part of the time in between', () => {
    const before = { total: 1000, idle: 800, steal: 10 };
    expect(cpuShares(before, { total: 1200, idle: 850, steal: 30 })).toEqual({ steal: 0.1, idle: 0.25 });
  });

  it('does not divide by nothing', () => {
    const same = { total: 1000, idle: 800, steal: 10 };
    expect(cpuShares(same, same)).toEqual({ steal: 0, idle: 1 });
  });
});

describe('machineFacts', () => {
  it('names this machine', async () => {
    const facts = await machineFacts();
    expect(facts.cores).toBeGreaterThan(0);
    expect(facts.memoryGiB).toBeGreaterThan(0);
    expect(facts.node).toBe(process.version);
    expect(facts.os).not.toBe('');
  });
});
