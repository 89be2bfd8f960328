import { expect, it } from 'vitest';

import { table } from './table.ts';

const header = ['NAME', 'URL', 'EVENTS'];
const rows = [
  ['call-log', `https://example.com/${'x'.repeat(80)}`, 'CallHandler.CallEnded,CallHandler.CallStarted'],
  ['short', 'https://a', '*'],
];

it('is as wide as its widest cells where nobody looks at it', () => {
  expect(table(header, rows)).toContain(rows[0]!.join('   '));
});

it('fits a terminal by cutting the widest columns', () => {
  const lines = table(header, rows, { width: 80 }).split('\n');
  expect(Math.max(...lines.map((line) => line.length))).toBe(80);
  expect(lines[1]).toMatch(/^call-log {3}https:\/\/example\.com\/x+… {3}CallHandler\.CallEnded,.*…$/);
  expect(lines[2]).toMatch(/^short {6}https:\/\/a +\*$/);
});

it('keeps so much of each cell that it can be recognised, however narrow the terminal is', () => {
  expect(table(header, rows, { width: 10 }).split('\n')[1]).toBe('call-log   https:/…   CallHan…');
});

it('is just its header without rows', () => {
  expect(table(header, [], { width: 80 })).toBe('NAME   URL   EVENTS\n');
});
