import { expect, it } from 'vitest';

import { latencyText, medianLatencies } from './turn-latencies.ts';

const turn = (v2v: number | null) => ({ eou: 500, stt: null, llm_ttft: 90, tts_ttfb: 70, v2v });

it('the median is of what was measured', () => {
  expect(medianLatencies([turn(900), turn(null), turn(700), turn(800)])).toEqual({
    eou: 500,
    stt: null,
    llm_ttft: 90,
    tts_ttfb: 70,
    v2v: 800,
  });
  expect(medianLatencies([turn(900), turn(700)]).v2v).toBe(800);
  expect(medianLatencies([]).v2v).toBeNull();
});

it('people read whole milliseconds, and seconds from one on', () => {
  expect([0.4, 999.4, 1_240, null].map(latencyText)).toEqual(['0 ms', '999 ms', '1.2 s', '–']);
});
