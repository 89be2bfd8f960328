import { Session } from 'node:inspector/promises';

import { onTestFinished } from 'vitest';

/**
 * Counts how much this process computes, until the end of the test: the blocks of JavaScript that run, on any machine as many. Native
 * code, such as the parser of JSON, is no part of it.
 * @returns a function that returns the steps since its last call
 */
export async function countSteps(): Promise<() => Promise<number>> {
  const session = new Session();
  session.connect();
  onTestFinished(() => session.disconnect());
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  return async () => {
    const { result } = await session.post('Profiler.takePreciseCoverage');
    let steps = 0;
    for (const { functions } of result) for (const { ranges } of functions) for (const { count } of ranges) steps += count;
    return steps;
  };
}
