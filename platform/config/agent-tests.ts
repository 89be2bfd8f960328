/** Variables of the runs of agent tests. */
import { z } from 'zod';

export const agentTestFields = {
  PARLEY_TEST_CONCURRENCY: z.coerce
    .number()
    .int()
    .min(1)
    .max(64)
    .default(16)
    .describe('Agent tests in text mode that a worker runs at the same time, and one more of an organisation of which it runs none.'),
  PARLEY_TEST_CALLS: z.coerce
    .number()
    .int()
    .min(1)
    .max(64)
    .default(4)
    .describe(
      'Agent tests in audio mode that a worker runs at the same time, and one more of an organisation of which it runs none: each is a call, which the voice roles serve next to those of users.',
    ),
};
