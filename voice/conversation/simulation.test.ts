import { it } from 'vitest';

import { SimulatedConversation } from '../../test/support/simulated-conversation.ts';

const FROM = Number(process.env['PARLEY_TEST_SEED'] ?? 1);
const COUNT = Number(process.env['PARLEY_TEST_CONVERSATIONS'] ?? 10_000);

it(`holds ${COUNT} random conversations as it should`, () => {
  for (let seed = FROM; seed < FROM + COUNT; seed += 1) new SimulatedConversation(seed).run();
});
