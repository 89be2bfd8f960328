import { expect, it } from 'vitest';

import { VoiceActivityModel } from './voice-activity-model.ts';

it('the model is asked about what can be heard and the silence behind it, and no more until somebody is heard again', async () => {
  const asked: number[] = [];
  const model = new VoiceActivityModel({ predict: async ([first = 0]) => asked.push(first) / 100 });
  const hears = async (...samples: number[]): Promise<readonly number[]> => {
    const probabilities = [];
    for (const sample of samples) probabilities.push(await model.predict(new Int16Array(512).fill(sample)));
    return probabilities;
  };
  expect(await hears(100, -100)).toEqual([0.01, 0.02]);
  expect(await hears(...Array.from({ length: 10 }, () => -16))).toEqual([0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.1, 0, 0]);
  expect(await hears(17, 0)).toEqual([0.11, 0.12]);
  expect(asked).toEqual([100, -100, ...Array.from({ length: 8 }, () => -16), 17, 0]);
});
