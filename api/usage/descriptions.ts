import { z } from 'zod';

import { callUsage } from '../../events/call-usage.ts';
import { time } from '../calls/schema.ts';
import { endedCall } from '../calls/examples.ts';
import { routesOf } from '../http/route.ts';

export const MOST_GROUPS = 1_000;

const usageQuery = z.object({
  from: time('Calls that were made then or later; 30 days before `to` where absent.').optional(),
  to: time('Calls that were made before then; now where absent. 366 days after `from` at most.').optional(),
  group_by: z.enum(['agent', 'day', 'model']).default('agent').describe('What there is a sum of.'),
  time_zone: z.string().max(64).default('UTC').describe('IANA name of the time zone in which days begin.'),
  ai_agent_ids: z
    .array(z.string())
    .max(100)
    .optional()
    .describe('Only calls in which these agents talked. To be given several times, or with commas between them.'),
});

export type UsageQuery = z.output<typeof usageQuery>;

const group = z
  .object({
    ai_agent_id: z.string().optional().describe('The agent that talked; with `group_by=agent`.'),
    day: z.iso.date().optional().describe('The day on which the calls were made; with `group_by=day`.'),
    calls: z.int().min(1).describe('Calls that have used anything of it.'),
    usage: callUsage.describe('What they have used together; with `group_by=model` of one model.'),
  })
  .meta({ id: 'UsageGroup' });

const usageAnswer = z
  .object({
    data: z.array(group).describe(`Sorted by what they are of; ${MOST_GROUPS} at most.`),
    complete: z.boolean().describe('false where there are more: ask for less time, or for some agents.'),
  })
  .meta({ id: 'UsageSums' });

export type UsageAnswer = z.output<typeof usageAnswer>;

export const getUsage = routesOf('Calls')({
  method: 'GET',
  path: '/v1/usage',
  operationId: 'getUsage',
  summary: 'Get what calls have used, and what it costs',
  description:
    'Sums by agent, day or model. Costs are those that were stored with the calls: later prices change nothing. Calls of tests, and calls that were deleted, are not in it.',
  permission: 'calls:read',
  query: usageQuery,
  answers: {
    200: {
      description: 'The sums.',
      schema: usageAnswer,
      example: { data: [{ ai_agent_id: endedCall.ai_agent_id, calls: 1, usage: endedCall.usage }], complete: true },
    },
  },
});
