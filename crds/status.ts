import { z } from 'zod';

import { mapOf, name, text } from './schema.ts';

/** `metav1.Condition` with the bounds of its Go type. */
const condition = z.object({
  type: name(316),
  status: z.enum(['True', 'False', 'Unknown']),
  observedGeneration: z.int().min(0).optional(),
  lastTransitionTime: z.iso.datetime().max(64),
  reason: name(1024),
  message: text(32768),
});

/** Fields that every kind's status begins with; spread into its `z.object`. */
export const commonStatus = {
  observedGeneration: z.int().min(0).optional().describe('The metadata.generation that this status was computed from.'),
  conditions: mapOf(condition, ['type'], 16).optional(),
  lastHandledReconcileAt: text(256).optional().describe('The value of the annotation parley.dev/reconcile-requested-at that was last acted upon.'),
} as const;
