import { expect, it } from 'vitest';

import { peaksOf, secondAt } from './waveform.ts';

it('has the loudest sample of each column, the highest of both sides being as high as there is room', () => {
  const channels = [Float32Array.from([0, 0.25, -0.5, 0.25, 0, 0]), Float32Array.from([0, 0, 0, 0, 0, -0.125])];
  expect(peaksOf(channels, 3)).toEqual([
    [0.5, 1, 0],
    [0, 0, 0.25],
  ]);
  expect(peaksOf([new Float32Array(0)], 2)).toEqual([[0, 0]]);
});

it('finds the second of a click, within the recording', () => {
  expect([secondAt(50, 200, 60), secondAt(-5, 200, 60), secondAt(300, 200, 60), secondAt(1, 0, 60)]).toEqual([15, 0, 60, 0]);
});
