import { expect, it } from 'vitest';

import { problemsOf, settled, type Way } from './ways.ts';

const way = (reached: boolean, may: boolean): Way => ({ who: 'voice', target: { host: '203.0.113.10', port: 587 }, reached, may });

it('names what is open and should not be, and the other way round', () => {
  expect(problemsOf([way(true, true), way(false, false)])).toEqual([]);
  const dns = { host: '10.96.0.10', port: 53, udp: true as const };
  expect(problemsOf([way(true, false), { ...way(false, true), target: dns }])).toEqual([
    'voice reaches 203.0.113.10:587',
    'voice does not reach udp 10.96.0.10:53',
  ]);
});

it('tries again until the rules are there', async () => {
  const attempts = [[way(true, false)], [way(false, true)], [way(false, false)], [way(true, false)]];
  expect(await settled(async () => attempts.shift() ?? [])).toEqual([way(false, false)]);
  expect(attempts).toHaveLength(1);
});

it('reports what it last saw where they never come', async () => {
  let time = 0;
  const attempt = async (): Promise<readonly Way[]> => {
    time += 10_000;
    return [way(true, false)];
  };
  expect(problemsOf(await settled(attempt, { limitMs: 30_000, now: () => time }))).toHaveLength(1);
  expect(time).toBe(40_000);
});
