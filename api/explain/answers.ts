import { z } from 'zod';

const finding = z
  .object({
    condition: z.string().describe('The condition of the resource that it is about.'),
    reason: z.string().describe('For programs: see the reference of conditions.'),
    message: z.string().describe('The state, for people.'),
    cure: z.string().optional().describe('What to do, where something needs doing.'),
  })
  .meta({ id: 'ExplanationFinding' });

const reference = z
  .object({
    object: z.string().describe('Kind and name, of a Secret also the key: `Secret keys, key apiKey`. Never a value.'),
    field: z.string().describe('Where the resource names it.'),
    state: z.string().describe('`exists`, `does not exist`, `ready`, `not ready: SecretNotFound` …'),
    sound: z.boolean().optional().describe('Whether that is as it should be; absent where it is not known.'),
  })
  .meta({ id: 'ExplanationReference' });

export const explanation = z
  .object({
    kind: z.string().describe('Kind of the resource: `Agent`.'),
    name: z.string().describe('Name of the resource.'),
    ready: z.boolean().describe('Whether it is in use.'),
    summary: z.string().describe('One sentence.'),
    problems: z.array(finding).describe('What keeps it from being in use.'),
    remarks: z.array(finding).describe('What is not as it could be, but does not keep it from being in use.'),
    refers_to: z.array(reference).describe('What it needs, the tools of an agent included, and the state of each.'),
    notes: z.array(z.string()).describe('What could not be looked at.'),
  })
  .meta({ id: 'Explanation' });

export type ExplanationAnswer = z.output<typeof explanation>;
