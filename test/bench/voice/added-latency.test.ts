import { expect, it } from 'vitest';

import { addedLatency, voiceToVoice } from './added-latency.ts';

const turn = { asked: 1_000, answered: 2_000 };

it('is what is left of voice to voice', () => {
  expect(voiceToVoice(turn)).toBe(1_000);
  expect(addedLatency(turn, { waitMs: 500, busy: [] })).toBe(500);
  expect(addedLatency(turn, { waitMs: 0, busy: [{ from: 1_200, to: 1_500 }] })).toBe(700);
});

it('counts what passes at the same time once', () => {
  const busy = [
    { from: 1_600, to: 1_800 },
    { from: 1_300, to: 1_650 },
    { from: 1_400, to: 1_420 },
  ];
  expect(addedLatency(turn, { waitMs: 500, busy })).toBe(200);
});

it('counts nothing that lies outside', () => {
  const busy = [
    { from: 0, to: 900 },
    { from: 1_900, to: 3_000 },
    { from: 2_500, to: 2_600 },
  ];
  expect(addedLatency(turn, { waitMs: 0, busy })).toBe(900);
  expect(addedLatency(turn, { waitMs: 5_000, busy: [] })).toBe(0);
});
