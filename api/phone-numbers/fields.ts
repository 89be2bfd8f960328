/** Lists every field of phone numbers in REST, for each variant. Pure. */
import { z } from 'zod';

import { phoneNumberKind, type PhoneNumber, type PhoneNumberSpec, type PhoneNumberType } from '../../crds/index.ts';
import { sipRegions } from '../../calls/sip/regions.ts';
import { sipOriginOf } from '../../calls/sip/termination.ts';
import { reference, secret, trimmedLabel } from '../codec/conversions.ts';
import {
  answerShape,
  createShape,
  fieldNamesOf,
  readFields,
  secretRefsOf,
  updateShape,
  writeFields,
  type Encoding,
  type Decoding,
} from '../codec/fields.ts';
import { fieldsOf } from '../codec/fields-of.ts';
import type { Draft } from '../codec/draft.ts';
import { without } from '../codec/rest-schema.ts';
import type { KeyRef } from '../codec/secrets.ts';
import { resourceState } from '../state/answers.ts';
import type { ResourceState } from '../state/resource-state.ts';
import { keepingEmpty, trimmed } from '../validation/normalize.ts';
import { forbidding } from '../validation/validate.ts';

const providers = { SIP: 'sip', Native: 'native', Carrier: 'carrier' } as const satisfies Record<PhoneNumberType, string>;

export type Provider = (typeof providers)[PhoneNumberType];

interface PhoneNumberReading extends Decoding {
  readonly state: ResourceState;
}

const PROVIDER =
  'Where the number comes from: `sip` is an imported one behind a SIP trunk, `native` one of the pool, `carrier` one at a carrier.';

const { field, answered, restField } = fieldsOf<typeof phoneNumberKind.spec, PhoneNumber, PhoneNumberReading>(phoneNumberKind.spec);

const _id = answered(
  z.string().describe('Name of the PhoneNumber resource in the namespace of the organisation.'),
  ({ metadata }) => metadata.name,
);

const providerField = <T extends PhoneNumberType, C extends z.ZodType>(type: T, create: C) =>
  restField({
    path: 'type',
    create: create.describe(PROVIDER),
    update: z.literal(providers[type]).optional().describe(PROVIDER),
    answer: z.literal(providers[type]).describe(PROVIDER),
    read: () => providers[type],
    write: (_, spec) => ({ ...spec, type }),
  });

const common = {
  phone_number: field('number', { fixed: 'the number can not change: delete this phone number and make another one' }),
  state: answered(resourceState, (_, { state }) => state),
  friendly_name: field('displayName', { as: trimmedLabel, empty: null }),
  inbound_agent_id: field('inboundAgentRef', { as: reference, empty: null }),
  outbound_agent_id: field('outboundAgentRef', { as: reference, empty: null }),
};

/** The fields of each variant. Those that can't change may be sent back as they are. */
const variants = {
  sip: {
    _id,
    provider: providerField('SIP', z.literal('sip').default('sip')),
    ...common,
    sip_termination_uri: field('sip.terminationURI', {
      // Null takes the trunk away, and so the number off the air. The check of addresses reports a text that is no address.
      body: (uri) => trimmed(keepingEmpty(without(uri, 'string_format'))),
      empty: null,
    }),
    sip_trunk_username: field('sip.username', { empty: null }),
    sip_trunk_password: field('sip.passwordSecretRef', {
      as: secret,
      empty: null,
      sentTo: ({ sip: { terminationURI: uri, username } = {} }) =>
        uri === undefined || uri === '' ? undefined : { sip_termination_uri: sipOriginOf(uri), sip_trunk_username: username },
    }),
    sip_infra_region: field('sip.region', {
      id: 'SipRegion',
      body: () => z.enum(sipRegions),
      answer: z.enum(sipRegions),
      text: 'Where the call enters; bd is Bangladesh.',
      ownsDefault: true,
      fixed: 'the region can not change: delete this phone number and make another one',
    }),
  },
  native: { _id, provider: providerField('Native', z.literal('native')), ...common },
  carrier: {
    _id,
    provider: providerField('Carrier', z.literal('carrier')),
    ...common,
    carrier_account_sid: field('carrier.accountSID', { also: ['carrier'], required: 'create', empty: null }),
    carrier_auth_token: field('carrier.authTokenSecretRef', {
      as: secret,
      required: 'create',
      empty: null,
      sentTo: ({ carrier }) => ({ carrier_account_sid: carrier?.accountSID }),
    }),
  },
} as const;

const all = { ...variants.sip, ...variants.native, ...variants.carrier };

const ownFields = Object.keys(all).filter((name) => !(name in variants.native));

/** Bodies that make a number. Fields of the other variants are refused. */
export const phoneNumberCreate = z.discriminatedUnion('provider', [
  forbidding(z.object(createShape(variants.sip)).meta({ id: 'SipPhoneNumberCreate' }), ownFields),
  forbidding(z.object(createShape(variants.native)).meta({ id: 'NativePhoneNumberCreate' }), ownFields),
  forbidding(z.object(createShape(variants.carrier)).meta({ id: 'CarrierPhoneNumberCreate' }), ownFields),
]);

export type PhoneNumberCreate = z.output<typeof phoneNumberCreate>;

/** Bodies that change a number, by its stored variant. Absent fields keep their value, `null` clears it. */
export const phoneNumberUpdates = {
  sip: forbidding(z.object(updateShape(variants.sip)).meta({ id: 'SipPhoneNumberUpdate' }), ownFields),
  native: forbidding(z.object(updateShape(variants.native)).meta({ id: 'NativePhoneNumberUpdate' }), ownFields),
  carrier: forbidding(z.object(updateShape(variants.carrier)).meta({ id: 'CarrierPhoneNumberUpdate' }), ownFields),
} as const satisfies Record<Provider, z.ZodObject>;

export type PhoneNumberUpdate = z.output<(typeof phoneNumberUpdates)[Provider]>;

export const phoneNumberAnswer = z
  .discriminatedUnion('provider', [
    z.object(answerShape(variants.sip)).meta({ id: 'SipPhoneNumber', description: 'A number of yours, behind a SIP trunk.' }),
    z.object(answerShape(variants.native)).meta({ id: 'NativePhoneNumber', description: "A number of the platform's own pool." }),
    z.object(answerShape(variants.carrier)).meta({ id: 'CarrierPhoneNumber', description: 'A number at a carrier.' }),
  ])
  .meta({ id: 'PhoneNumber' });

/** Maps paths of a PhoneNumber's spec to REST's names. */
export const phoneNumberFieldNames = fieldNamesOf(all);

export function providerOf({ type }: Pick<PhoneNumberSpec, 'type'>): Provider {
  return providers[type];
}

/** Builds the phone number object of the contract: the fields of its own variant, and none of another. */
export function phoneNumberToRest(phoneNumber: PhoneNumber, reading: PhoneNumberReading): Readonly<Record<string, unknown>> {
  return readFields(variants[providerOf(phoneNumber.spec)], phoneNumber, reading);
}

/** Writes the fields of a request into the spec. @see writeFields */
export function phoneNumberFromRest(
  body: PhoneNumberCreate | PhoneNumberUpdate,
  previous: PhoneNumberSpec | undefined,
  encoding: Encoding,
): Draft<PhoneNumberSpec> {
  const provider = previous === undefined ? (body.provider ?? 'sip') : providerOf(previous);
  return writeFields(variants[provider], body, previous, encoding);
}

export function phoneNumberSecretRefs(spec: Draft<PhoneNumberSpec>): readonly KeyRef[] {
  return secretRefsOf(all, spec);
}
