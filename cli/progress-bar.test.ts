import { expect, it } from 'vitest';

import { barText, ProgressBar } from './progress-bar.ts';

function terminal(isTTY: boolean) {
  let text = '';
  const err = { isTTY, columns: 60, write: (more: string) => (text += more) };
  return { io: { err, now: () => 1_000 }, text: () => text };
}

it('shows how far it is', () => {
  expect(barText(0, 4, '')).toBe('[------------------------] 0 of 4');
  expect(barText(1, 4, '1 failed')).toBe('[######------------------] 1 of 4, 1 failed');
  expect(barText(4, 4, '')).toBe('[########################] 4 of 4');
});

it('leaves whole lines above it, and nothing where there is no terminal', () => {
  const shown = terminal(true);
  const bar = new ProgressBar(shown.io, true);
  bar.show(1, 2, '');
  bar.above(() => shown.io.err.write('a line\n'));
  bar.clear();
  expect(shown.text().split('\r\u001B[2K')).toEqual(['', barText(1, 2, ''), 'a line\n', barText(1, 2, ''), '']);

  for (const [isTTY, wanted] of [
    [false, true],
    [true, false],
  ] as const) {
    const plain = terminal(isTTY);
    const hidden = new ProgressBar(plain.io, wanted);
    hidden.show(1, 2, '');
    hidden.above(() => plain.io.err.write('a line\n'));
    expect(plain.text()).toBe('a line\n');
  }
});

it('puts a line in place of the bar when a step is done, and only that where there is no terminal', () => {
  for (const [isTTY, expected] of [
    [true, '\r\u001B[2KPostgres …\r\u001B[2KPostgres: 2 MB\n\r\u001B[2K'],
    [false, 'Postgres: 2 MB\n'],
  ] as const) {
    const { io, text } = terminal(isTTY);
    const bar = new ProgressBar(io, true);
    bar.note('Postgres …');
    bar.line('Postgres: 2 MB');
    bar.clear();
    expect(text()).toBe(expected);
  }
});
