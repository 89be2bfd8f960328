import { z } from 'zod';

import { deleted, listOf } from '../codec/answers.ts';
import { dryRunQuery, writeQuery } from '../http/conditions.ts';
import { routesOf } from '../http/route.ts';
import { resourcePage } from '../state/answers.ts';
import { phoneNumberAnswer, phoneNumberCreate, phoneNumberUpdates } from './fields.ts';

const defineRoute = routesOf('Phone numbers');
const params = { phone_number_id: 'The `_id`: the name of the PhoneNumber resource.' };

const example = {
  _id: 'front-desk-k3xq5w7z',
  provider: 'sip',
  phone_number: '+15550100',
  friendly_name: 'Front desk',
  inbound_agent_id: 'receptionist-k3xq5w7z',
  outbound_agent_id: null,
  state: { ready: true, reason: 'Available', message: 'the number is yours, and it is connected' },
  sip_termination_uri: 'sip:trunk.example.com',
  sip_trunk_username: 'trunk',
  sip_trunk_password: '********',
  sip_infra_region: 'global',
};

const bodyExamples = {
  'behind a SIP trunk': {
    provider: 'sip',
    phone_number: '+15550100',
    sip_termination_uri: 'sip:trunk.example.com',
    sip_trunk_username: 'trunk',
    sip_trunk_password: 'secret',
  },
  'of the pool': { provider: 'native', phone_number: '+15550101' },
  'at a carrier': { provider: 'carrier', phone_number: '+15550102', carrier_account_sid: 'AC0123', carrier_auth_token: 'secret' },
};

export const createPhoneNumber = defineRoute({
  method: 'POST',
  path: '/v1/phone-numbers',
  operationId: 'createPhoneNumber',
  summary: 'Add a phone number',
  description:
    'A number belongs to one object of the whole deployment. It stays reserved for its organisation once that is deleted; for others it is 409 meanwhile, and the message says until when. So is one that the operator of the installation has assigned to other organisations.',
  permission: 'phone_numbers:write',
  query: z.object(dryRunQuery),
  body: phoneNumberCreate.meta({ id: 'PhoneNumberCreate' }),
  bodyExamples,
  answers: {
    201: {
      description: 'The phone number.',
      schema: phoneNumberAnswer,
      example,
      headers: ['ETag'],
      identifies: { phone_number_id: '_id' },
    },
  },
  errors: ['conflict'],
});

export const listPhoneNumbers = defineRoute({
  method: 'GET',
  path: '/v1/phone-numbers',
  operationId: 'listPhoneNumbers',
  mcp: {},
  summary: 'List phone numbers, in the order of their creation',
  permission: 'phone_numbers:read',
  query: resourcePage,
  answers: {
    200: {
      description: 'A page of phone numbers.',
      schema: listOf(phoneNumberAnswer, 'PhoneNumberList'),
      example: { data: [example], next_page_token: null },
      headers: ['Age'],
    },
  },
});

export const getPhoneNumber = defineRoute({
  method: 'GET',
  path: '/v1/phone-numbers/:phone_number_id',
  operationId: 'getPhoneNumber',
  summary: 'Get a phone number',
  permission: 'phone_numbers:read',
  params,
  answers: { 200: { description: 'The phone number.', schema: phoneNumberAnswer, example, headers: ['ETag', 'Age'] } },
});

export const updatePhoneNumber = defineRoute({
  method: 'PATCH',
  path: '/v1/phone-numbers/:phone_number_id',
  operationId: 'updatePhoneNumber',
  mcp: {},
  summary: 'Change the fields given',
  description:
    'Absent fields keep their value, `null` clears them. The provider that is stored decides which fields there are: those of another are refused. The number, its provider and its region may be repeated, not changed.',
  permission: 'phone_numbers:write',
  params,
  query: writeQuery,
  ifMatch: true,
  readsLater: true,
  body: z.union(Object.values(phoneNumberUpdates)).meta({ id: 'PhoneNumberUpdate' }),
  bodyExamples: { 'another name, and no trunk': { friendly_name: 'Night desk', sip_termination_uri: null } },
  answers: { 200: { description: 'The phone number as it is now.', schema: phoneNumberAnswer, example, headers: ['ETag'] } },
  errors: ['conflict'],
});

export const deletePhoneNumber = defineRoute({
  method: 'DELETE',
  path: '/v1/phone-numbers/:phone_number_id',
  operationId: 'deletePhoneNumber',
  summary: 'Delete a phone number',
  permission: 'phone_numbers:write',
  params,
  query: z.object(dryRunQuery),
  ifMatch: true,
  answers: { 200: deleted('The phone number was deleted') },
  errors: ['conflict'],
});
