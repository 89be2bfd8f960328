import { expect, it } from 'vitest';

import { isSlow, waterfallOf } from './waterfall.ts';

it('speech is recognised while the end of turn is decided; then model and voice follow one another', () => {
  expect(waterfallOf({ eou: 500, stt: 120, llm_ttft: 310, tts_ttfb: 75, v2v: 1_020 })).toEqual({
    bars: [
      { stage: 'v2v', from: 0, to: 1_020 },
      { stage: 'eou', from: 0, to: 500 },
      { stage: 'stt', from: 0, to: 120 },
      { stage: 'llm_ttft', from: 500, to: 810 },
      { stage: 'tts_ttfb', from: 810, to: 885 },
    ],
    length: 2_000,
  });
});

it('an answer that was begun before the end of turn ends when it was heard', () => {
  const { bars } = waterfallOf({ eou: 500, stt: 300, llm_ttft: 200, tts_ttfb: 100, v2v: 510 });
  expect(bars.slice(3)).toEqual([
    { stage: 'llm_ttft', from: 210, to: 410 },
    { stage: 'tts_ttfb', from: 410, to: 510 },
  ]);
});

it('leaves out what was not measured, and grows with a slow answer', () => {
  expect(waterfallOf({ eou: null, stt: null, llm_ttft: 4_000, tts_ttfb: null, v2v: null })).toEqual({
    bars: [{ stage: 'llm_ttft', from: 0, to: 4_000 }],
    length: 4_000,
  });
});

it('calls an answer slow that comes after a second and a half', () => {
  const turn = { eou: null, stt: null, llm_ttft: null, tts_ttfb: null };
  expect([1_499, 1_500, null].map((v2v) => isSlow({ ...turn, v2v }))).toEqual([false, true, false]);
});
