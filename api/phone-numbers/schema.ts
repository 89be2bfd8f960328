/** Bodies of the phone numbers' routes: one variant for each `provider`. */
import { z } from 'zod';

import type { phoneNumberVariants } from '../../crds/index.ts';
import { keepingEmpty } from '../validation/normalize.ts';
import { forbidding } from '../validation/validate.ts';

export type Provider = (typeof phoneNumberVariants)[number];

const text = (max: number) => z.string().max(max);
const named = (max: number) => z.string().min(1).max(max);

const number = z
  .string()
  .max(16)
  .regex(/^\+[1-9]\d{1,14}$/);

const common = {
  friendly_name: text(200).nullish(),
  inbound_agent_id: text(253).nullish(),
  outbound_agent_id: text(253).nullish(),
};

const region = z.enum(['global', 'bd', 'bd_link3']);

const sip = {
  // Taking the trunk away takes the number off the air: null says that.
  sip_termination_uri: keepingEmpty(text(512)).nullish(),
  sip_trunk_username: text(256).nullish(),
  sip_trunk_password: named(4096).nullish(),
};

const carrier = { carrier_account_sid: named(256), carrier_auth_token: named(4096) };

const ownFields = [...Object.keys(sip), 'sip_infra_region', ...Object.keys(carrier)];

/** Fields of the other variants are refused. */
export const phoneNumberCreate = z.discriminatedUnion('provider', [
  forbidding(
    z.object({
      provider: z.literal('sip').default('sip'),
      phone_number: number,
      ...common,
      ...sip,
      sip_infra_region: region.nullish(),
    }),
    ownFields,
  ),
  forbidding(z.object({ provider: z.literal('native'), phone_number: number, ...common }), ownFields),
  forbidding(z.object({ provider: z.literal('carrier'), phone_number: number, ...common, ...carrier }), ownFields),
]);

export type PhoneNumberCreate = z.output<typeof phoneNumberCreate>;

/** What was decided when the number was made may be sent back as it is. */
const fixed = { phone_number: text(16).optional() };

/** By what is stored. Absent fields keep their value, `null` clears it. */
export const phoneNumberUpdates = {
  sip: forbidding(
    z.object({ provider: z.literal('sip').optional(), ...fixed, ...common, ...sip, sip_infra_region: region.optional() }),
    ownFields,
  ),
  native: forbidding(z.object({ provider: z.literal('native').optional(), ...fixed, ...common }), ownFields),
  carrier: forbidding(
    z.object({
      provider: z.literal('carrier').optional(),
      ...fixed,
      ...common,
      carrier_account_sid: carrier.carrier_account_sid.nullish(),
      carrier_auth_token: carrier.carrier_auth_token.nullish(),
    }),
    ownFields,
  ),
} as const satisfies Record<Provider, z.ZodObject>;

export type PhoneNumberUpdate = z.output<(typeof phoneNumberUpdates)[Provider]>;
