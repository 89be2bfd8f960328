/** Translates `redaction`, which says what is taken out of what is stored of calls, between REST and the resource. */
import { z } from 'zod';

import { agentKind } from '../../crds/index.ts';
import { redactionKinds } from '../../crds/redaction.ts';
import { choice, items, whole } from '../codec/conversions.ts';
import type { Conversion } from '../codec/fields.ts';
import { fieldsOf } from '../codec/fields-of.ts';
import { distinct, schemaAt } from '../codec/rest-schema.ts';
import { withRule } from '../validation/validate.ts';

const { field } = fieldsOf(schemaAt(agentKind.spec, 'redaction'));
const pattern = fieldsOf(schemaAt(agentKind.spec, 'redaction.patterns.*'));

const KINDS = {
  card: 'Card',
  iban: 'IBAN',
  phone: 'Phone',
  email: 'Email',
  birth_date: 'BirthDate',
  address: 'Address',
  name: 'Name',
} as const;
type Kind = (typeof KINDS)[keyof typeof KINDS];
type KindInRest = keyof typeof KINDS;
const kind = choice(KINDS);
const kindsInRest = z.array(z.enum(Object.keys(KINDS) as KindInRest[])).max(redactionKinds.length);

const kinds: Conversion<readonly Kind[], readonly KindInRest[]> = {
  body: () =>
    withRule(
      kindsInRest,
      distinct('kinds', (name) => name),
    ),
  answer: () => kindsInRest,
  read: (stored, reading) => stored.flatMap((each) => kind.read(each, reading) ?? []),
  write: (sent) => sent.map((name) => KINDS[name]),
  below: { '.*': '.*' },
};

const BY_MODEL = 'What no shape has is left to the model: `address` and `name` need it.';

export const redaction = fieldsOf(agentKind.spec).field('redaction', {
  as: whole(
    {
      kinds: field('kinds', {
        as: kinds,
        empty: [],
        text: `\`card\`, \`iban\`, \`phone\`, \`email\` and \`birth_date\` are found by their shape, written or said. ${BY_MODEL}`,
      }),
      patterns: field('patterns', {
        as: items(
          {
            name: pattern.field('name'),
            regex: pattern.field('regex'),
            label: pattern.field('label'),
          },
          { name: 'RedactionPattern' },
        ),
        empty: [],
      }),
      by_model: field('byModel', {
        text: 'Whether the model of the agent is asked, too, what of each message, argument and result is of these kinds, before it is stored. A text that it could not be asked about is left out.',
      }),
      recordings: field('recordings', {
        as: choice({ tone: 'Tone', keep: 'Keep' }),
        id: 'RedactedRecordings',
        text: '`tone`: a tone takes the place of the sound in the recording; `keep`: recordings stay as they are.',
      }),
    },
    { name: 'Redaction' },
  ),
  text: {
    body: 'What is taken out of transcripts, tool calls, results and recordings before they are stored; nothing where absent, or null.',
    answer: 'What is taken out of what is stored of calls; absent where nothing is.',
  },
});
