import { expect, it } from 'vitest';

import { SharedWindows, type WindowModel } from './shared-windows.ts';

/** Answers with what it has heard so far: another order, or a window twice, is another answer. */
function listener(): WindowModel & { readonly heard: number[] } {
  const heard: number[] = [];
  return {
    heard,
    predict: async (window) => heard.push(window[0]!),
    reset: () => void heard.splice(0),
  };
}

const sound = (...values: readonly number[]): readonly Int16Array[] => values.map((value) => Int16Array.of(value));

it('asks once for each window, whichever stream is ahead', async () => {
  const [one, two] = [listener(), listener()];
  const shared = new SharedWindows(listener);
  const [first, second] = [shared.modelFor(one), shared.modelFor(two)];
  const windows = sound(5, 5, 7, 8);
  const answers: number[][] = [];
  for (const [index, window] of windows.entries()) {
    const order = index % 2 === 0 ? [first, second] : [second, first];
    answers.push(await Promise.all(order.map((model) => model.predict(window))));
  }
  expect(answers).toEqual([
    [1, 1],
    [2, 2],
    [3, 3],
    [4, 4],
  ]);
  expect([one.heard, two.heard]).toEqual([[5, 5, 7, 8], []]);
});

it('a stream that begins again does not make the others forget', async () => {
  const one = listener();
  const shared = new SharedWindows(listener);
  const [first, second] = [shared.modelFor(one), shared.modelFor(listener())];
  const [a, b] = sound(1, 2);
  await first.predict(a!);
  await second.predict(a!);
  second.reset();
  expect(await second.predict(b!)).toBe(2);
});

it('a stream that gets other frames has a model of its own, as has one that missed some', async () => {
  const created: ReturnType<typeof listener>[] = [];
  const create = () => {
    created.push(listener());
    return created.at(-1)!;
  };
  const [one, two, three] = [listener(), listener(), listener()];
  const shared = new SharedWindows(create);
  const [first, second, late] = [shared.modelFor(one), shared.modelFor(two), shared.modelFor(three)];
  const [a, b, c, d] = sound(1, 2, 3, 4);
  await first.predict(a!);
  await second.predict(Int16Array.of(1));
  expect([one.heard, two.heard]).toEqual([[1], [1]]);
  await second.predict(b!);
  await first.predict(b!);
  expect([one.heard, two.heard]).toEqual([
    [1, 2],
    [1, 2],
  ]);
  // It comes in where the others are, goes ahead, and the one whose model it is misses a window.
  expect(await late.predict(b!)).toBe(2);
  await late.predict(c!);
  await first.predict(d!);
  expect([one.heard, three.heard, created.map(({ heard }) => heard)]).toEqual([[1, 2, 3], [], [[4]]]);
});
