import { z } from 'zod';

import { ageColumn, defineKind, displayNameColumn, readyColumn, reasonColumn, suspendColumn, type Resource } from './kind.ts';
import { atomic, cel, immutable, localRef, name, secretKeyRef, text, unionOf } from './schema.ts';
import { commonStatus, deletionPolicies, ORPHAN, suspend } from './status.ts';

const spec = cel(
  z.object({
    suspend,
    number: z
      .string()
      .max(16)
      .regex(/^\+[1-9]\d{1,14}$/)
      .describe('E.164; unique in the deployment: it belongs to the organisation that used it first, and there to the oldest object.'),
    displayName: text(200).optional().describe('A label for people.'),
    inboundAgentRef: localRef().optional().describe('The Agent that answers calls to this number.'),
    outboundAgentRef: localRef().optional().describe('The Agent that calls from this number.'),
    type: z
      .enum(['SIP', 'Native', 'Carrier'])
      .describe("SIP: imported, behind a SIP trunk. Native: of the deployment's own pool. Carrier: at a carrier."),
    sip: z
      .object({
        terminationURI: text(512)
          .regex(/^([sS][iI][pP][sS]?:)?([^@;\s]*@)?(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?(;[^@;\s]*)*$/)
          .optional()
          .describe('Where the trunk is: host, host:port or a SIP URI, on the public internet.'),
        username: text(256).optional().describe('User at the trunk.'),
        passwordSecretRef: secretKeyRef().optional().describe('Password at the trunk.'),
        // The operator checks the name: regions come with other people's networks.
        region: name(32)
          .regex(/^[a-z][a-z0-9_-]*$/)
          .default('global')
          .describe('Region in which calls enter the network, such as bd for Bangladesh.'),
      })
      .optional()
      .describe('The SIP trunk of a number with type SIP.'),
    carrier: atomic(
      z.object({
        accountSID: name(256).optional().describe('Account at the carrier.'),
        authTokenSecretRef: secretKeyRef().optional().describe('Token of the account.'),
      }),
    )
      .optional()
      .describe('The account at the carrier of a number with type Carrier.'),
    deletionPolicy: z.enum(deletionPolicies).default('Delete').describe(`What happens to the trunks at the media server. ${ORPHAN}`),
  }),
  ...unionOf({ SIP: 'sip', Carrier: 'carrier' }, { optional: ['carrier'] }),
  immutable('type'),
  immutable('number'),
);

const status = z.object({
  ...commonStatus,
  inboundTrunkID: text(256).optional().describe('At the media server.'),
  outboundTrunkID: text(256).optional().describe('At the media server.'),
  dispatchRuleID: text(256).optional().describe('At the media server.'),
});

export const phoneNumberKind = defineKind('PhoneNumber', 'phonenumbers', {
  shortNames: ['pphone', 'pn'],
  description: 'A phone number, linked to the agents that answer it and call from it.',
  printerColumns: [
    displayNameColumn(),
    readyColumn,
    reasonColumn,
    suspendColumn,
    { name: 'Number', type: 'string', jsonPath: '.spec.number' },
    { name: 'Type', type: 'string', jsonPath: '.spec.type' },
    { name: 'Inbound', type: 'string', jsonPath: '.spec.inboundAgentRef.name' },
    { name: 'Outbound', type: 'string', jsonPath: '.spec.outboundAgentRef.name' },
    ageColumn,
  ],
  selectableFields: ['.spec.number'],
  spec,
  status,
});

export type PhoneNumberSpec = z.output<typeof spec>;
export type PhoneNumberType = PhoneNumberSpec['type'];
export type PhoneNumberStatus = z.output<typeof status>;
export type PhoneNumber = Resource<PhoneNumberSpec, PhoneNumberStatus>;
