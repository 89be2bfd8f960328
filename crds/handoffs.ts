/** The agents that an agent hands calls over to. */
import { z } from 'zod';

import { cel, distinctList, list, localRef, name, text } from './schema.ts';

/** Most agents that one agent may hand a call to. */
export const MAX_HANDOFFS = 16;

const handoff = z.object({
  agentRef: localRef().describe('The Agent that takes over.'),
  when: name(1500).describe('When the agent hands over to it, for the model.'),
  say: text(500)
    .optional()
    .describe('What the agent says before the other one takes over; it hands over silently where absent. May hold {{name}} placeholders.'),
  context: z
    .enum(['All', 'Summary', 'None'])
    .optional()
    .describe(
      'What the other one learns of the conversation. All: what both sides have said; Summary: a summary by the model of the agent; None: the last words of the user. All where absent.',
    ),
  carry: distinctList(
    name(64)
      .regex(/^[a-zA-Z0-9_.-]{1,64}$/)
      .describe('Name of a value.'),
    16,
  )
    .optional()
    .describe(
      'Values that the other one has as dynamic data: those of this agent by these names, and what its model fills in for names that it has none of.',
    ),
  voice: z
    .enum(['Own', 'Keep'])
    .optional()
    .describe('Own: the other one speaks with its own voice; Keep: with the voice that the user hears already. Own where absent.'),
});

export const handoffs = cel(list(handoff, MAX_HANDOFFS), {
  rule: 'self.all(x, self.exists_one(y, x.agentRef.name == y.agentRef.name))',
  message: 'must not name an agent twice',
})
  .optional()
  .describe('Agents of the same namespace that may take over in a call. The model gets a function for each.');
