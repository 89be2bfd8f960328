import type { FieldNames } from '../partial/field-names.ts';

/** Paths of a PhoneNumber's spec in REST's words. */
export const phoneNumberFieldNames: FieldNames = {
  number: 'phone_number',
  friendlyName: 'friendly_name',
  inboundAgentRef: 'inbound_agent_id',
  'inboundAgentRef.name': 'inbound_agent_id',
  outboundAgentRef: 'outbound_agent_id',
  'outboundAgentRef.name': 'outbound_agent_id',
  'sip.terminationURI': 'sip_termination_uri',
  'sip.username': 'sip_trunk_username',
  'sip.passwordSecretRef': 'sip_trunk_password',
  'sip.region': 'sip_infra_region',
  carrier: 'carrier_account_sid',
  'carrier.accountSID': 'carrier_account_sid',
  'carrier.authTokenSecretRef': 'carrier_auth_token',
};
