import { expect, it } from 'vitest';

import { SimulatedConversation } from '../../test/support/simulated-conversation.ts';

const FROM = Number(process.env['PARLEY_TEST_SEED'] ?? 1);
const COUNT = Number(process.env['PARLEY_TEST_CONVERSATIONS'] ?? 10_000);

it(`holds ${COUNT} random conversations as it should`, () => {
  const failures = Array.from({ length: COUNT }, (_, index) => failureOf(FROM + index)).filter((failure) => failure !== undefined);
  expect(failures.slice(0, 1)).toEqual([]);
});

function failureOf(seed: number): string | undefined {
  try {
    new SimulatedConversation(seed).run();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
