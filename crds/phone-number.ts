import { z } from 'zod';

import { ageColumn, defineKind, displayNameColumn, readyColumn, reasonColumn, suspendColumn, type Resource } from './kind.ts';
import { atomic, cel, exactlyOneOf, immutable, immutableChoice, localRef, name, secretKeyRef, text } from './schema.ts';
import { commonStatus, deletionPolicies, ORPHAN, suspend } from './status.ts';

/** The variants of a PhoneNumber, by the name of their field. */
export const phoneNumberVariants = ['sip', 'native', 'carrier'] as const;

const spec = cel(
  z.object({
    suspend,
    number: z
      .string()
      .max(16)
      .regex(/^\+[1-9]\d{1,14}$/)
      .describe('E.164; unique in the deployment: it belongs to the organisation that used it first, and there to the oldest object.'),
    friendlyName: text(200).optional().describe('A label for people.'),
    inboundAgentRef: localRef().optional().describe('The Agent that answers calls to this number.'),
    outboundAgentRef: localRef().optional().describe('The Agent that calls from this number.'),
    sip: z
      .object({
        terminationURI: text(512)
          .regex(/^([sS][iI][pP][sS]?:)?([^@;\s]*@)?(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?(;[^@;\s]*)*$/)
          .optional()
          .describe('Where the trunk is: host, host:port or a SIP URI, on the public internet.'),
        username: text(256).optional().describe('User at the trunk.'),
        passwordSecretRef: secretKeyRef().optional().describe('Password at the trunk.'),
        region: z.enum(['global', 'bd', 'bd_link3']).default('global').describe('Where the call enters; bd is Bangladesh.'),
      })
      .optional()
      .describe('An imported number behind a SIP trunk.'),
    native: z.object({}).optional().describe("A number of the operator's own pool."),
    carrier: atomic(
      z.object({
        accountSID: name(256).optional().describe('Account at the carrier.'),
        authTokenSecretRef: secretKeyRef().optional().describe('Token of the account.'),
      }),
    )
      .optional()
      .describe('A number at a carrier, used with the account it belongs to.'),
    deletionPolicy: z.enum(deletionPolicies).default('Retain').describe(`What happens to the trunks at the media server. ${ORPHAN}`),
  }),
  exactlyOneOf(phoneNumberVariants),
  immutableChoice(phoneNumberVariants, 'the variant of a phone number'),
  immutable('number'),
);

const status = z.object({
  ...commonStatus,
  provider: text(16).optional().describe('The variant: sip, native or carrier.'),
  inboundTrunkID: text(256).optional().describe('At the media server.'),
  outboundTrunkID: text(256).optional().describe('At the media server.'),
  dispatchRuleID: text(256).optional().describe('At the media server.'),
});

export const phoneNumberKind = defineKind('PhoneNumber', 'phonenumbers', {
  shortNames: ['pphone', 'pn'],
  description: 'A phone number, linked to the agents that answer it and call from it.',
  printerColumns: [
    displayNameColumn('friendlyName'),
    readyColumn,
    reasonColumn,
    suspendColumn,
    { name: 'Number', type: 'string', jsonPath: '.spec.number' },
    { name: 'Provider', type: 'string', jsonPath: '.status.provider' },
    { name: 'Inbound', type: 'string', jsonPath: '.spec.inboundAgentRef.name' },
    { name: 'Outbound', type: 'string', jsonPath: '.spec.outboundAgentRef.name' },
    ageColumn,
  ],
  selectableFields: ['.spec.number'],
  spec,
  status,
});

export type PhoneNumberSpec = z.output<typeof spec>;
export type PhoneNumberStatus = z.output<typeof status>;
export type PhoneNumber = Resource<PhoneNumberSpec, PhoneNumberStatus>;
