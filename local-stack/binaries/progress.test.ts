import { describe, expect, it } from 'vitest';

import { buildProgress, isPackageLine } from './go-build.ts';
import { BuildPlan, describeProgress, duration } from './progress.ts';

describe('go build', () => {
  it.each(['k8s.io/api/core/v1', 'internal/goarch', 'runtime', 'github.com/a-b/c_d/v2', 'gopkg.in/yaml.v3', 'example.org/c++/x'])(
    'counts %s',
    (line) => {
      expect(isPackageLine(line)).toBe(true);
    },
  );

  it.each(['go: downloading k8s.io/api v0.34.4', '# k8s.io/api', 'a/b.go:3:4: undefined: x', '', 'WORK=/tmp/x y'])(
    'does not count %j',
    (line) => {
      expect(isPackageLine(line)).toBe(false);
    },
  );

  it('guesses the rest from the rate, once there is one', () => {
    expect(buildProgress({ done: 3, total: 1000, elapsedMs: 10_000 }).remainingMs).toBeUndefined();
    const halfway = buildProgress({ done: 520, total: 1000, elapsedMs: 60_000 });
    expect(halfway.total).toBe(1040);
    expect(halfway.remainingMs).toBe(60_000);
  });

  it('never shows more done than there is, and leaves a share for linking', () => {
    const { done, total } = buildProgress({ done: 1200, total: 1000, elapsedMs: 60_000 });
    expect(done).toBeLessThan(total!);
  });
});

describe('BuildPlan', () => {
  it('gives one figure for several builds', () => {
    let now = 0;
    const plan = new BuildPlan(() => now);
    plan.update('etcd', 100, 0);
    expect(plan.describe()).toBe('');
    plan.update('apiserver', 300, 0);
    now = 100_000;
    plan.update('etcd', 100, 1);
    expect(plan.describe()).toBe('built 1 of 2, 25 %, about 5 min 00 s left in all');
    // A build that restarts with a smaller fraction does not make the figure go back.
    plan.update('etcd', 100, 0.2);
    expect(plan.describe()).toContain('25 %');
  });
});

it('describes progress in one line', () => {
  expect(describeProgress({ phase: 'downloading', done: 12_300_000, total: 24_600_000, elapsedMs: 3_000, remainingMs: 3_000 })).toBe(
    'downloading 50 % (12.3 MB of 24.6 MB) after 3 s about 3 s left',
  );
  expect(describeProgress({ phase: 'building', done: 10, total: 100 })).toBe('building 10 % (10 of 100 packages)');
  expect(duration(125_000)).toBe('2 min 05 s');
});
