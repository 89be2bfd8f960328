/** Says which personal data an agent keeps out of what is stored of its calls. */
import { RE2JS } from 're2js';
import { z } from 'zod';

import { errorMessageOf } from '../platform/caught.ts';
import { cel, mapOf, name, setOf, text } from './schema.ts';
import type { SpecProblem } from './spec-problem.ts';

/** Address and Name have no shape: only a model finds them. */
export const redactionKinds = ['Card', 'IBAN', 'Phone', 'Email', 'BirthDate', 'Address', 'Name'] as const;
export type RedactionKind = (typeof redactionKinds)[number];

const pattern = z.object({
  name: text(64)
    .regex(/^[a-z0-9]([-a-z0-9]{0,62}[a-z0-9])?$/)
    .describe('Identifies the pattern; it is counted by this name.'),
  regex: name(256).describe('RE2 syntax: takes linear time, whatever is said.'),
  label: text(64)
    .regex(/^[^[\]\s]([^[\]]{0,62}[^[\]\s])?$/)
    .optional()
    .describe('What stands in its place, in brackets; the name where absent.'),
});

export const redaction = cel(
  z.object({
    kinds: setOf(z.enum(redactionKinds), redactionKinds.length)
      .optional()
      .describe(
        'Card, IBAN, Phone, Email and BirthDate are found by their shape, written or said. Address and Name are found by the model: set byModel.',
      ),
    patterns: mapOf(pattern, ['name'], 16).optional().describe('What else is taken out, by its shape.'),
    byModel: z
      .boolean()
      .default(false)
      .describe(
        'Whether the llm of the agent is asked, too, what of each message, argument and result is of these kinds, before it is stored. A text that it could not be asked about is left out.',
      ),
    recordings: z
      .enum(['Tone', 'Keep'])
      .default('Tone')
      .describe('Tone: a tone takes the place of the sound in the recording; Keep: recordings stay as they are.'),
  }),
  {
    rule: 'has(self.kinds) && size(self.kinds) > 0 || has(self.patterns) && size(self.patterns) > 0',
    message: 'set kinds or patterns, or remove redaction',
  },
  {
    rule: "!has(self.kinds) || self.byModel || !self.kinds.exists(kind, kind == 'Address' || kind == 'Name')",
    message: 'Address and Name have no shape: set byModel to true, or remove them',
    fieldPath: '.kinds',
  },
);

export type RedactionSpec = z.output<typeof redaction>;

/** Checks the patterns, whose language no schema knows. */
export function redactionProblems({ patterns = [] }: Partial<RedactionSpec> = {}): readonly SpecProblem[] {
  return patterns.flatMap(({ regex }, index) => {
    try {
      RE2JS.compile(regex);
      return [];
    } catch (error) {
      const message = `is no regular expression of RE2, which has no look-around and no back-references: ${errorMessageOf(error)}`;
      return [{ path: `spec.redaction.patterns[${index}].regex`, message }];
    }
  });
}
