/** Defines the variables of the voice role: how many calls, in which processes. */
import { z } from 'zod';

import { milliseconds } from './fields.ts';

export const voiceFields = {
  PARLEY_CALL_JOIN_SECONDS: z.coerce
    .number()
    .int()
    .min(5)
    .max(600)
    .default(60)
    .describe('How long a web call waits for its user, in seconds; then it ends and no longer counts against the limit of calls.'),
  PARLEY_UNJOINED_CALLS_PERCENT: z.coerce
    .number()
    .int()
    .min(1)
    .max(200)
    .default(50)
    .describe(
      'How many web calls of an organisation may wait for their users at the same time, in percent of the live calls that it may have; of one API key half as many. With 200 there is no further limit.',
    ),
  PARLEY_VOICE_CALLS: z.coerce.number().int().min(1).max(1000).default(10).describe('Calls that a voice role serves at once.'),
  PARLEY_VOICE_CALLS_PER_PROCESS: z.coerce
    .number()
    .int()
    .min(1)
    .max(16)
    .default(8)
    .describe(
      'Calls that share a job process of the voice role, and end together if it dies; 1 gives each call a process of its own, for as long as it lasts.',
    ),
  PARLEY_VOICE_PROCESS_MEMORY_MB: z.coerce
    .number()
    .int()
    .min(256)
    .max(65_536)
    .default(1_024)
    .describe('Memory of a job process above which it takes no more calls and ends after its last one; at twice as much it is killed.'),
  PARLEY_VOICE_IDLE_PROCESSES: z.coerce
    .number()
    .int()
    .min(1)
    .max(100)
    .default(2)
    .describe(
      'Job processes with room for another call that a voice role keeps ready: so many simultaneous callers, times PARLEY_VOICE_CALLS_PER_PROCESS, need not wait; each takes some 95 MB of memory, and grows with its calls.',
    ),
  PARLEY_VOICE_WELCOME_SECONDS: z.coerce
    .number()
    .int()
    .min(1)
    .max(60)
    .default(10)
    .describe(
      'How long a caller may wait for the first word, in seconds: while more calls begin than a voice role welcomes in this time, REST answers 503 with `Retry-After`.',
    ),
  PARLEY_VOICE_DRAIN_MS: milliseconds(7_260_000).describe(
    'How long a voice process that is stopping waits for its calls, in milliseconds; by default as long as the longest call.',
  ),
  PARLEY_VOICE_SPOOL: z
    .string()
    .regex(/^\//, 'must be an absolute path')
    .optional()
    .describe(
      "Folder in which a voice process records its calls until they are in the storage; one under the system's temporary folder where absent. Not to be shared by machines or pods.",
    ),
};
