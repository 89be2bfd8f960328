/** What is answered of phone numbers. */
import { z } from 'zod';

import { resourceState } from '../state/answers.ts';

const text = z.string().nullable();
const secret = text.describe('`"********"` unless the key names the permission `secrets:read`.');

const common = {
  phone_number: z.string(),
  state: resourceState,
  friendly_name: text,
  inbound_agent_id: text.describe('The agent that answers calls to this number.'),
  outbound_agent_id: text.describe('The agent that calls from this number.'),
};

export const phoneNumberAnswer = z
  .union([
    z
      .object({
        _id: z.string(),
        provider: z.literal('sip'),
        ...common,
        sip_termination_uri: text,
        sip_trunk_username: text,
        sip_trunk_password: secret,
        sip_infra_region: z.enum(['global', 'bd', 'bd_link3']),
      })
      .describe('Imported, behind a SIP trunk.'),
    z.object({ _id: z.string(), provider: z.literal('native'), ...common }).describe("From the platform's own pool."),
    z
      .object({ _id: z.string(), provider: z.literal('carrier'), ...common, carrier_account_sid: text, carrier_auth_token: secret })
      .describe('At a carrier.'),
  ])
  .meta({ id: 'PhoneNumber' });
