import { describe, expect, it } from 'vitest';

import { duration, figure, megabytes, percent, renderTable, times } from './table.ts';

describe('renderTable', () => {
  it('is a Markdown table with figures to the right', () => {
    const text = renderTable({
      title: 'Clients',
      columns: ['client', 'requests/s'],
      rows: [
        ['own', '1,234'],
        ['stock', '99'],
      ],
      notes: ['16 in flight'],
    });
    expect(text.split('\n')).toEqual([
      '### Clients',
      '',
      '| client | requests/s |',
      '| ------ | ---------: |',
      '| own    |      1,234 |',
      '| stock  |         99 |',
      '',
      '- 16 in flight',
      '',
    ]);
  });

  it('keeps a bar inside a cell and fills missing cells', () => {
    expect(renderTable({ title: 't', columns: ['a', 'b'], rows: [['x|y']] })).toContain('| x\\|y |     |');
  });
});

describe('figures', () => {
  it('have three significant digits and whole numbers from 100 up', () => {
    expect(figure(0.51234)).toBe('0.512');
    expect(figure(3.456)).toBe('3.46');
    expect(figure(99.96)).toBe('100');
    expect(figure(1234.5)).toBe('1,235');
    expect(figure(12, 'ms')).toBe('12 ms');
    expect(figure(0)).toBe('0');
  });

  it('show a dash for what was not measured', () => {
    expect([
      figure(undefined),
      figure(Number.NaN),
      duration(undefined),
      megabytes(undefined),
      times(Number.NaN),
      times(Infinity),
      percent(undefined),
    ]).toEqual(Array(7).fill('–'));
  });

  it('change their unit where the number grows long', () => {
    expect(duration(9_999)).toBe('9,999 ms');
    expect(duration(12_340)).toBe('12.3 s');
    expect(megabytes(82_500_000)).toBe('82.5 MB');
    expect(times(2.149)).toBe('2.15×');
    expect(percent(0.0123)).toBe('1.2 %');
  });
});
