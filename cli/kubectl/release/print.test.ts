import { expect, it } from 'vitest';

import { historyTable, releaseLine, unifiedDiff } from './print.ts';

const same = (text: string): string => text;
const plain = { bold: same, good: same, bad: same, weak: same };
const [a, b] = ['a'.repeat(64), 'b'.repeat(64)];

it('shows what changed with the lines around it', () => {
  const lines = Array.from({ length: 12 }, (_, index) => `line ${index}`);
  const from = { name: 'old', text: lines.join('\n') };
  const to = { name: 'new', text: lines.with(1, 'line one').with(11, 'last').join('\n') };
  expect(unifiedDiff(from, to, plain)).toBe(
    [
      '--- old',
      '+++ new',
      ' line 0',
      '-line 1',
      '+line one',
      ' line 2',
      ' line 3',
      ' line 4',
      '@@',
      ' line 8',
      ' line 9',
      ' line 10',
      '-line 11',
      '+last',
      '',
    ].join('\n'),
  );
  expect(unifiedDiff(from, from, plain)).toBe('');
});

it('lists revisions with their figures', () => {
  const revision = (hash: string, state: string, calls: number, errors: number) => ({
    revision: hash,
    created_at: '2026-06-01T11:00:00Z',
    state,
    last_change: { change: 'served', at: '2026-06-01T11:30:00Z', reason: 'slow', requested_by: 'ada' },
    figures: { calls, errors, p95_voice_to_voice_ms: calls === 0 ? undefined : 1180.4 },
  });
  const release = { serving_revision: a, canary: { revision: b, percent: 10, since: '2026-06-01T11:30:00Z' } };
  const found = { release, revisions: [revision(b, 'canary', 40, 5), revision(a, 'serving', 0, 0)] };
  const now = Date.parse('2026-06-01T12:00:00Z');
  expect(historyTable(found, { wide: false, now }).split('\n').slice(1, 3)).toEqual([
    'bbbbbbbbbbbb   canary 10%   60m       40      12.5%    1180ms   served, 30m ago',
    'aaaaaaaaaaaa   serving      60m       0       -        -        served, 30m ago',
  ]);
  expect(historyTable(found, { wide: true, now })).toContain('ada   slow');
  expect(releaseLine('desk', release)).toBe('agent/desk serves revision aaaaaaaaaaaa: 10 % of new calls start with bbbbbbbbbbbb\n');
});
