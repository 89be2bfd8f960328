import { Histogram, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';

import { Metrics, quantileAtMost } from './prometheus.ts';

describe('Metrics', () => {
  const metrics = Metrics.parse(
    [
      '# HELP requests_total Requests.',
      '# TYPE requests_total counter',
      'requests_total{code="200",verb="GET"} 12',
      'requests_total{code="200",verb="APPLY",} 3',
      'requests_total{code="409",verb="APPLY"} 1 1700000000000',
      'quoted{path="a \\"b\\" \\\\ c, d=\\"e\\""} 1',
      'bare 0.5',
      'endless{le="+Inf"} +Inf',
      '',
    ].join('\n'),
  );

  it('sums what matches', () => {
    expect(metrics.sum('requests_total')).toBe(16);
    expect(metrics.sum('requests_total', { verb: 'APPLY' })).toBe(4);
    expect(metrics.sum('requests_total', { verb: ['GET', 'APPLY'], code: '200' })).toBe(15);
    expect(metrics.sum('bare')).toBe(0.5);
  });

  it('distinguishes no measurement from zero', () => {
    expect(metrics.sum('requests_total', { verb: 'DELETE' })).toBeUndefined();
    expect(metrics.sum('absent')).toBeUndefined();
  });

  it('reads escaped labels and infinities', () => {
    expect(metrics.samples('quoted')[0]?.labels).toEqual({ path: 'a "b" \\ c, d="e"' });
    expect(metrics.samples('endless')[0]?.value).toBe(Number.POSITIVE_INFINITY);
  });
});

async function scrapes(first: readonly number[], second: readonly number[]): Promise<{ before: Metrics; after: Metrics }> {
  const registry = new Registry();
  const histogram = new Histogram({ name: 'wait_seconds', help: 'w', labelNames: ['queue'], buckets: [1, 2, 4], registers: [registry] });
  for (const value of first) histogram.observe({ queue: 'agent' }, value);
  const before = Metrics.parse(await registry.metrics());
  for (const value of second) histogram.observe({ queue: 'agent' }, value);
  return { before, after: Metrics.parse(await registry.metrics()) };
}

describe('quantileAtMost', () => {
  it('is the bound of the bucket', async () => {
    const { after } = await scrapes([0.5, 0.5, 1.5, 1.5], []);
    expect(quantileAtMost(0.5, 'wait_seconds', { queue: 'agent' }, after)).toBe(1);
    expect(quantileAtMost(0.75, 'wait_seconds', { queue: 'agent' }, after)).toBe(2);
  });

  it('counts only what came between the scrapes', async () => {
    const { before, after } = await scrapes(Array(1000).fill(0.1), [3, 3]);
    expect(quantileAtMost(0.99, 'wait_seconds', {}, after, before)).toBe(4);
  });

  it('says when there is no finite bound', async () => {
    const { after } = await scrapes([100], []);
    expect(quantileAtMost(0.99, 'wait_seconds', {}, after)).toBe(Number.POSITIVE_INFINITY);
  });

  it('is undefined where nothing was observed', async () => {
    const { before, after } = await scrapes([1], []);
    expect(quantileAtMost(0.99, 'wait_seconds', {}, after, before)).toBeUndefined();
    expect(quantileAtMost(0.99, 'absent', {}, after)).toBeUndefined();
  });
});
