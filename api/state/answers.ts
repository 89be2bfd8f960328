/** `state` in answers, and the filter of lists by it. */
import { z } from 'zod';

import { pageQuery } from '../pagination/keyset.ts';

const ready = z.boolean().describe('Whether what this answer shows is in use.');
const message = z.string().describe('For people: what is so and, where something needs doing, what to do.');
const reason = z
  .string()
  .describe(
    'For programs: a reason of the condition `Ready` (see the reference of conditions), or `Reconciling` while the operator has not acted upon the last change.',
  );

export const resourceState = z.object({ ready, reason, message }).meta({ id: 'ResourceState' });

export const toolState = z
  .object({
    ready,
    reason: reason.describe(`${reason.description ?? ''} \`AgentNotReady\`: the tool is sound, and its agent does not offer it.`),
    message,
  })
  .meta({ id: 'ToolState' });

export const agentState = z
  .object({
    ready,
    reason,
    message,
    serving_revision: z.string().optional().describe('The revision that new calls start with; absent where none has been sound yet.'),
    desired_revision: z.string().optional().describe('The revision that the resource and all that it names ask for, as last reported.'),
  })
  .meta({ id: 'AgentState' });

export const readyFilter = { ready: z.boolean().optional().describe('Only what has this `state.ready`.') };

/** Of lists of resources. */
export const resourcePage = z.object({ ...pageQuery.shape, ...readyFilter });

export const readyExample = { ready: true, reason: 'Available', message: 'its documents can be found' };
