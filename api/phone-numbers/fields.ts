/** Phone numbers in REST: every field of each variant. Pure. */
import { z } from 'zod';

import { phoneNumberKind, phoneNumberVariants, type PhoneNumber, type PhoneNumberSpec } from '../../crds/index.ts';
import { sipOriginOf } from '../../calls/sip/termination.ts';
import { reference, secret, trimmedLabel } from '../codec/conversions.ts';
import { describeFields } from '../codec/describe-fields.ts';
import { named, nameLabel, text } from '../codec/schemas.ts';
import {
  answerShape,
  createShape,
  field,
  fieldNamesOf,
  readFields,
  secretRefsOf,
  updateShape,
  writeFields,
  type Encoding,
  type Decoding,
} from '../codec/fields.ts';
import type { Draft } from '../codec/present.ts';
import type { KeyRef } from '../codec/secrets.ts';
import { resourceState } from '../state/answers.ts';
import type { ResourceState } from '../state/resource-state.ts';
import { keepingEmpty, trimmed } from '../validation/normalize.ts';
import { forbidding } from '../validation/validate.ts';

export type Provider = (typeof phoneNumberVariants)[number];

interface PhoneNumberReading extends Decoding {
  readonly state: ResourceState;
}

const answer = z.string().nullable();
const secretAnswer = answer.describe('`"********"` unless the key names the permission `secrets:read`.');
const region = z.enum(['global', 'bd', 'bd_link3']).meta({ id: 'SipRegion' });

const PROVIDER =
  'Where the number comes from: `sip` is an imported one behind a SIP trunk, `native` one of the pool, `carrier` one at a carrier.';

const _id = field({
  answer: z.string().describe('Name of the PhoneNumber resource in the namespace of the organisation.'),
  read: ({ metadata }: PhoneNumber) => metadata.name,
});

const common = {
  phone_number: field({
    path: 'number',
    create: z
      .string()
      .max(16)
      .regex(/^\+[1-9]\d{1,14}$/),
    update: text(16).optional().describe('It can not change: only the present one is taken.'),
    answer: z.string(),
    fixed: 'the number can not change: delete this phone number and make another one',
  }),
  state: field({ answer: resourceState, read: (_: PhoneNumber, { state }: PhoneNumberReading) => state }),
  friendly_name: field({ path: 'friendlyName', as: trimmedLabel, create: nameLabel(200).nullish(), answer }),
  inbound_agent_id: field({
    path: 'inboundAgentRef',
    as: reference,
    create: text(253).nullish(),
    answer: answer.describe('The agent that answers calls to this number.'),
  }),
  outbound_agent_id: field({
    path: 'outboundAgentRef',
    as: reference,
    create: text(253).nullish(),
    answer: answer.describe('The agent that calls from this number.'),
  }),
};

/** What was decided when the number was made may be sent back as it is. */
const variants = {
  sip: {
    _id,
    provider: field({
      create: z.literal('sip').default('sip').describe(PROVIDER),
      update: z.literal('sip').optional().describe(PROVIDER),
      answer: z.literal('sip').describe(PROVIDER),
      read: () => 'sip',
    }),
    ...common,
    // Taking the trunk away takes the number off the air: null says that.
    sip_termination_uri: field({ path: 'sip.terminationURI', create: trimmed(keepingEmpty(text(512))).nullish(), answer }),
    sip_trunk_username: field({ path: 'sip.username', create: text(256).nullish(), answer }),
    sip_trunk_password: field({
      path: 'sip.passwordSecretRef',
      as: secret,
      create: named(4096).nullish(),
      answer: secretAnswer,
      sentTo: ({ sip: { terminationURI: uri, username } = {} }: Draft<PhoneNumberSpec>) =>
        uri === undefined || uri === '' ? undefined : { sip_termination_uri: sipOriginOf(uri), sip_trunk_username: username },
    }),
    sip_infra_region: field({
      path: 'sip.region',
      create: region.nullish(),
      update: region.optional(),
      answer: region,
      default: 'global',
      fixed: 'the region can not change: delete this phone number and make another one',
    }),
  },
  native: {
    _id,
    provider: field({
      create: z.literal('native').describe(PROVIDER),
      update: z.literal('native').optional().describe(PROVIDER),
      answer: z.literal('native').describe(PROVIDER),
      read: () => 'native',
    }),
    ...common,
  },
  carrier: {
    _id,
    provider: field({
      create: z.literal('carrier').describe(PROVIDER),
      update: z.literal('carrier').optional().describe(PROVIDER),
      answer: z.literal('carrier').describe(PROVIDER),
      read: () => 'carrier',
    }),
    ...common,
    carrier_account_sid: field({
      path: 'carrier.accountSID',
      also: ['carrier'],
      create: named(256),
      update: named(256).nullish(),
      answer,
    }),
    carrier_auth_token: field({
      path: 'carrier.authTokenSecretRef',
      as: secret,
      create: named(4096),
      update: named(4096).nullish(),
      answer: secretAnswer,
      sentTo: ({ carrier }: Draft<PhoneNumberSpec>) => ({ carrier_account_sid: carrier?.accountSID }),
    }),
  },
} as const;

const all = { ...variants.sip, ...variants.native, ...variants.carrier };
describeFields(phoneNumberKind.spec, all);

const ownFields = Object.keys(all).filter((name) => !(name in variants.native));

/** Fields of the other variants are refused. */
export const phoneNumberCreate = z.discriminatedUnion('provider', [
  forbidding(z.object(createShape(variants.sip)).meta({ id: 'SipPhoneNumberCreate' }), ownFields),
  forbidding(z.object(createShape(variants.native)).meta({ id: 'NativePhoneNumberCreate' }), ownFields),
  forbidding(z.object(createShape(variants.carrier)).meta({ id: 'CarrierPhoneNumberCreate' }), ownFields),
]);

export type PhoneNumberCreate = z.output<typeof phoneNumberCreate>;

/** By what is stored. Absent fields keep their value, `null` clears it. */
export const phoneNumberUpdates = {
  sip: forbidding(z.object(updateShape(variants.sip)).meta({ id: 'SipPhoneNumberUpdate' }), ownFields),
  native: forbidding(z.object(updateShape(variants.native)).meta({ id: 'NativePhoneNumberUpdate' }), ownFields),
  carrier: forbidding(z.object(updateShape(variants.carrier)).meta({ id: 'CarrierPhoneNumberUpdate' }), ownFields),
} as const satisfies Record<Provider, z.ZodObject>;

export type PhoneNumberUpdate = z.output<(typeof phoneNumberUpdates)[Provider]>;

export const phoneNumberAnswer = z
  .discriminatedUnion('provider', [
    z.object(answerShape(variants.sip)).meta({ id: 'SipPhoneNumber', description: 'Imported, behind a SIP trunk.' }),
    z.object(answerShape(variants.native)).meta({ id: 'NativePhoneNumber', description: "From the platform's own pool." }),
    z.object(answerShape(variants.carrier)).meta({ id: 'CarrierPhoneNumber', description: 'At a carrier.' }),
  ])
  .meta({ id: 'PhoneNumber' });

/** Paths of a PhoneNumber's spec in REST's words. */
export const phoneNumberFieldNames = fieldNamesOf(all);

export function providerOf(spec: Draft<PhoneNumberSpec>): Provider {
  return phoneNumberVariants.find((variant) => spec[variant] !== undefined) ?? 'native';
}

/** The phone number object of the contract: the fields of its own variant, and none of another. */
export function phoneNumberToRest(phoneNumber: PhoneNumber, reading: PhoneNumberReading): Readonly<Record<string, unknown>> {
  return readFields(variants[providerOf(phoneNumber.spec)], phoneNumber, reading);
}

/** @see writeFields */
export function phoneNumberFromRest(
  body: PhoneNumberCreate | PhoneNumberUpdate,
  previous: PhoneNumberSpec | undefined,
  encoding: Encoding,
): Draft<PhoneNumberSpec> {
  const provider = previous === undefined ? (body.provider ?? 'sip') : providerOf(previous);
  const spec = writeFields(variants[provider], body, previous, encoding);
  // The variant stays when its last field is cleared.
  return { [provider]: {}, ...spec };
}

/** Every Secret key that a phone number refers to. */
export function phoneNumberSecretRefs(spec: Draft<PhoneNumberSpec>): readonly KeyRef[] {
  return secretRefsOf(all, spec);
}
