import { z } from 'zod';

import { mapOf, name, text } from './schema.ts';

/** A time by RFC 3339, in UTC. */
export const timestamp = () => z.iso.datetime().max(64);

/** `spec.suspend`, the same in every kind. */
export const suspend = z.boolean().optional().describe('Stop reconciling: what is in use stays in use. Deletion still works.');

/** What becomes of the outside things of a deleted object that has some of its own. */
export const deletionPolicies = ['Retain', 'Delete', 'Orphan'] as const;

/** Says of a deletion what every kind with a finalizer has in common. */
export const ORPHAN = 'Orphan: the object goes at once, and what cannot be released just now stays behind.';

/** `metav1.Condition` with the bounds of its Go type. */
const condition = z.object({
  type: name(316).describe(
    'Ready, Suspended, Accepted, ResolvedRefs, Tested, Synced, UpToDate, EndpointHealthy, BudgetExceeded, Progressing, Ingesting, Reconciling or Stalled.',
  ),
  status: z.enum(['True', 'False', 'Unknown']).describe('Whether the condition holds.'),
  observedGeneration: z.int().min(0).optional().describe('The metadata.generation that this condition was computed from.'),
  lastTransitionTime: timestamp().describe('When status last changed.'),
  reason: name(1024).describe('CamelCase, for programs.'),
  message: text(32768).describe('What is so and what to do about it, for people.'),
});

/** Fields that every kind's status begins with; spread into its `z.object`. */
export const commonStatus = {
  observedGeneration: z
    .int()
    .min(-1)
    .optional()
    .describe('The metadata.generation that this status was computed from; -1 until the operator has seen the object.'),
  conditions: mapOf(condition, ['type'], 32).optional().describe('Ready sums the others up.'),
  lastHandledReconcileAt: text(256)
    .optional()
    .describe('The value of the annotation parley.dev/reconcile-requested-at that was last acted upon.'),
} as const;
