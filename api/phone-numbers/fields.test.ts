import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { phoneNumberKind, type PhoneNumber, type PhoneNumberSpec } from '../../crds/index.ts';
import { fieldsWithoutCase } from '../../test/support/field-cases.ts';
import { masked, refId, unmaskedReader, type SecretValues } from '../codec/secrets.ts';
import type { Encoding } from '../codec/fields.ts';
import {
  phoneNumberFieldNames,
  phoneNumberFromRest,
  phoneNumberToRest,
  providerOf,
  phoneNumberCreate,
  phoneNumberUpdates,
  type PhoneNumberUpdate,
} from './fields.ts';
import { encoding as encodingFor, parsed } from '../../test/support/rest-fields.ts';

const trunk = fc.constantFrom('trunk.example.com', 'sip:desk@trunk.example.com:5061;transport=tls', 'sips:[2606:4700::1111]');
const text = fc.oneof(fc.constant(''), fc.string({ maxLength: 12, unit: 'grapheme' }));
const named = fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme-ascii' });
const keyRef = fc.record({ name: fc.constantFrom('mine', 'phonenumber-p'), key: fc.constantFrom('k', 'l') });
const number = fc.stringMatching(/^\+[1-9][0-9]{1,14}$/);
const region = fc.constantFrom('global', 'bd', 'bd_link3');
const agent = fc.constantFrom('a', 'b');
const ref = fc.record({ name: agent });

/** Any spec that `kubectl apply` may have stored. */
const spec = fc
  .record({
    common: fc.record(
      {
        number,
        suspend: fc.boolean(),
        displayName: text,
        inboundAgentRef: ref,
        outboundAgentRef: ref,
        deletionPolicy: fc.constant('Retain'),
      },
      { requiredKeys: ['number'] },
    ),
    variant: fc.oneof(
      fc.record({
        type: fc.constant('SIP'),
        sip: fc.record({ terminationURI: trunk, username: text, passwordSecretRef: keyRef, region }, { requiredKeys: [] }),
      }),
      fc.constant({ type: 'Native' }),
      fc.record(
        { type: fc.constant('Carrier'), carrier: fc.record({ accountSID: named, authTokenSecretRef: keyRef }, { requiredKeys: [] }) },
        { requiredKeys: ['type'] },
      ),
    ),
  })
  .map(({ common, variant }) => phoneNumberKind.spec.parse({ ...common, ...variant }));

const storedNumber = (stored: PhoneNumberSpec): PhoneNumber => ({
  apiVersion: 'parley.dev/v1beta1',
  kind: 'PhoneNumber',
  metadata: { name: 'p', namespace: 'org' },
  spec: stored,
});

const state = { ready: true, reason: 'Available', message: '' };
const shown = (stored: PhoneNumberSpec, secrets: SecretValues) => phoneNumberToRest(storedNumber(stored), { secrets, state });

const encoding = (stored?: ReadonlyMap<string, string>): Encoding => encodingFor('phonenumber-p', stored);

const update = (stored: PhoneNumberSpec, body: unknown): PhoneNumberUpdate =>
  parsed<PhoneNumberUpdate>(phoneNumberUpdates[providerOf(stored)], body);

describe('a phone number: resource → REST → resource', () => {
  it('changes nothing, whatever is stored, masked and unmasked and where nothing is named', () => {
    const values = new Map(
      ['mine', 'phonenumber-p'].flatMap((name) => ['k', 'l'].map((key) => [refId({ name, key }), `${name}+${key}`] as const)),
    );
    fc.assert(
      fc.property(spec, (stored) => {
        for (const body of [shown(stored, masked), shown(stored, unmaskedReader(values)), {}]) {
          const context = encoding(values);
          expect(phoneNumberFromRest(update(stored, body), stored, context)).toEqual(stored);
          expect([context.found, [...context.secrets.pending]]).toEqual([[], []]);
        }
      }),
      { numRuns: 500 },
    );
  });
});

/** REST shows names without the spaces around them. */
const label = text.map((name) => name.trim());
const common = { phone_number: number, friendly_name: label, inbound_agent_id: agent, outbound_agent_id: agent };
const body = fc.oneof(
  fc.record(
    {
      provider: fc.constant('sip'),
      ...common,
      sip_termination_uri: trunk,
      sip_trunk_username: text,
      sip_trunk_password: named,
      sip_infra_region: region,
    },
    { requiredKeys: ['phone_number'] },
  ),
  fc.record({ provider: fc.constant('native'), ...common }, { requiredKeys: ['provider', 'phone_number'] }),
  fc.record({ provider: fc.constant('carrier'), ...common, carrier_account_sid: named, carrier_auth_token: named }),
);

describe('a phone number: REST → resource → REST', () => {
  it('returns what was sent, with no secret in the spec', () => {
    fc.assert(
      fc.property(body, (sent) => {
        const context = encoding();
        const draft = phoneNumberFromRest(parsed(phoneNumberCreate, sent), undefined, context);
        const values = new Map([...context.secrets.pending].map(([key, value]) => [refId({ name: 'phonenumber-p', key }), value]));
        expect(shown(phoneNumberKind.spec.parse(draft), unmaskedReader(values))).toMatchObject(JSON.parse(JSON.stringify(sent)) as object);
        expect(context.secrets.pending.size).toBe(['sip_trunk_password', 'carrier_auth_token'].filter((name) => name in sent).length);
      }),
      { numRuns: 500 },
    );
  });

  it('changes what is named and nothing else, whatever is stored', () => {
    const fields = { friendly_name: label, inbound_agent_id: agent, outbound_agent_id: agent };
    const own = {
      sip: { sip_termination_uri: trunk, sip_trunk_username: text, sip_trunk_password: named },
      native: {},
      carrier: { carrier_account_sid: named, carrier_auth_token: named },
    };
    const change = spec.chain((stored) =>
      fc.tuple(fc.constant(stored), fc.record({ ...fields, ...own[providerOf(stored)] }, { requiredKeys: [] })),
    );
    const known = new Map(
      ['mine', 'phonenumber-p'].flatMap((name) => ['k', 'l'].map((key) => [refId({ name, key }), `${name}+${key}`] as const)),
    );
    fc.assert(
      fc.property(change, ([stored, sent]) => {
        const context = encoding(known);
        const after = phoneNumberKind.spec.parse(phoneNumberFromRest(update(stored, sent), stored, context));
        const values = [...context.secrets.pending].map(([key, value]) => [refId({ name: 'phonenumber-p', key }), value] as const);
        expect(shown(after, unmaskedReader(new Map([...known, ...values])))).toEqual({
          ...shown(stored, unmaskedReader(known)),
          ...(JSON.parse(JSON.stringify(sent)) as object),
        });
        expect([after.suspend, after.deletionPolicy]).toEqual([stored.suspend, stored.deletionPolicy]);
      }),
      { numRuns: 500 },
    );
  });

  it('loses what is null, whatever is stored', () => {
    fc.assert(
      fc.property(spec, (stored) => {
        const clearable = Object.entries(shown(stored, masked)).filter(
          ([name]) => !['_id', 'state', 'provider', 'phone_number', 'sip_infra_region'].includes(name),
        );
        const none = Object.fromEntries(clearable.map(([name]) => [name, null]));
        const draft = phoneNumberFromRest(update(stored, none), stored, encoding());
        const after = phoneNumberKind.spec.parse(draft);
        expect(shown(after, masked)).toEqual({ ...shown(stored, masked), ...none });
        expect(after.deletionPolicy).toBe(stored.deletionPolicy);
      }),
      { numRuns: 300 },
    );
  });
});

it('has a case for each field of the table: add what is named here to the bodies above', () => {
  expect(fieldsWithoutCase(phoneNumberFieldNames, fc.sample(body, { seed: 1, numRuns: 300 }))).toEqual([]);
});
