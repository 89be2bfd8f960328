/** Defines `state` in answers, and the filter of lists by it. */
import { z } from 'zod';

import { pageQuery } from '../pagination/keyset.ts';
import { volatile } from '../validation/unknown-fields.ts';

const ready = z.boolean().describe('Whether what this answer shows is in use.');
const message = z.string().describe('For people: what is so and, where something needs doing, what to do.');
const reason = z
  .string()
  .describe(
    'For programs: a reason of the condition `Ready` (see the reference of conditions), or `Reconciling` while the operator has not acted upon the last change.',
  );

export const stateFields = { ready, reason, message };

/** Describes `state` in the OpenAPI document. */
export const STATE = 'Whether the object is in use as it is shown here, and if not, why.';

export const resourceState = volatile(z.object(stateFields).meta({ id: 'ResourceState', description: STATE }));

export const readyFilter = { ready: z.boolean().optional().describe('Only what has this `state.ready`.') };

export const resourcePage = z.object({ ...pageQuery.shape, ...readyFilter });

export const readyExample = { ready: true, reason: 'Available', message: 'its documents can be found' };
