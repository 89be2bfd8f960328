import { z } from 'zod';

import { pageQuery } from '../pagination/keyset.ts';

const MOST_TESTS = 500;

export const testRunCreate = z.object({
  tests: z
    .array(z.string().min(1).max(253))
    .min(1)
    .max(MOST_TESTS)
    .nullish()
    .describe('Names of AgentTests that select the agent; all that do, and are not suspended, where absent.'),
  revision: z
    .string()
    .regex(/^(desired|serving|[0-9a-f]{64})$/)
    .default('desired')
    .describe('`desired`: what the resources ask for now; `serving`: what calls get now; or a revision that the agent has had.'),
});

export type TestRunCreate = z.output<typeof testRunCreate>;

export const testRunQuery = z.object({
  ai_agent_id: z.string().optional().describe('Only runs of this agent.'),
  test: z.string().optional().describe('Only runs with this AgentTest.'),
  state: z.enum(['queued', 'running', 'finished', 'cancelled']).optional().describe('Only runs in this state.'),
  ...pageQuery.shape,
});
