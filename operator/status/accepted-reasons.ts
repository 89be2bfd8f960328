/** The reasons of the condition `Accepted`. */
import { stalled, type ReasonDefinition } from './reason-definition.ts';

export const acceptedReasons = {
  SpecAccepted: { condition: 'Accepted', status: 'True', meaning: 'The spec is consistent.' },
  SpecAcceptedWithRemarks: {
    condition: 'Accepted',
    status: 'True',
    meaning:
      'The spec is consistent, and in use. The message names what in it has no effect, or lacks a value in some calls, such as a `{{name}}` that only the call itself may bring.',
    cure: 'Correct what was not meant so.',
  },
  NotAnOrganization: stalled('Accepted', {
    meaning: 'The namespace is not an organisation, so the operator ignores its objects.',
    cure: 'Label the namespace `parley.dev/organization=true`, or create the object in a namespace that has the label.',
  }),
  InvalidLanguage: stalled('Accepted', {
    meaning: 'A language is not a valid BCP 47 tag.',
    cure: 'Use a tag such as `en-US`.',
  }),
  InvalidTimeZone: stalled('Accepted', {
    meaning: 'A time zone is not in the IANA database.',
    cure: 'Use a name such as `Europe/Berlin`.',
  }),
  InvalidParameters: stalled('Accepted', {
    meaning: "The parameters of a tool's function are not a valid JSON Schema.",
    cure: 'Correct the schema where the message says.',
  }),
  InvalidSpec: stalled('Accepted', {
    meaning:
      'A field has a value that cannot be used, beyond what the API server checks: a free-form value that is too large, for example, or an address with a `{name}` that no parameter supplies.',
    cure: 'Correct the field that the message names.',
  }),
  TooManyTools: stalled('Accepted', {
    meaning: 'More tools are attached to the agent than a model can be offered: more than 128, or more than 1 MiB of JSON.',
    cure: "Remove the agent from `spec.agentRefs` of the tools it doesn't need, or shorten their parameters.",
  }),
  NumberTaken: stalled('Accepted', {
    meaning:
      'The number belongs to an older PhoneNumber of the same organisation, and heals when that one is deleted; or to another organisation, and does not heal by waiting.',
    cure: 'Delete the older object, or use another number.',
  }),
  NumberReserved: stalled('Accepted', {
    meaning:
      'Another organisation had the number, and may have it back until the time in the message (`PARLEY_NUMBER_RESERVATION_DAYS`). Does not heal by waiting.',
    cure: 'Use another number; apply the PhoneNumber again once that time is over; or have the operator of the installation run `parley numbers release`.',
  }),
  NumberNotAssigned: stalled('Accepted', {
    meaning: 'The operator of the installation has assigned the number to other organisations (`PARLEY_NUMBER_ASSIGNMENTS`).',
    cure: 'Use another number, or have it assigned to this organisation.',
  }),
  NumberNotInPool: stalled('Accepted', {
    meaning: 'A number with type Native is not one of those that the deployment has (`PARLEY_NATIVE_NUMBERS`).',
    cure: 'Use a number of the pool, or make the PhoneNumber with type SIP or Carrier.',
  }),
  UnknownRegion: stalled('Accepted', {
    meaning: '`spec.sip.region` names a region that this version does not know. The number keeps its former trunks.',
    cure: 'Use one of the regions that the message lists.',
  }),
  FunctionNameConflict: stalled('Accepted', {
    meaning:
      'An agent has an older tool with the same function name, and does not offer this one: `status.agents` says which agents do. Heals when the older tool is renamed, detached or deleted.',
    cure: "Rename this tool's function, or detach one of the two.",
  }),
  DisplayNameTaken: stalled('Accepted', {
    meaning: 'An older object of the same kind and organisation has the same display name. Heals when that one is renamed or deleted.',
    cure: 'Set another `spec.displayName`.',
  }),
  UnknownEmbeddingProfile: stalled('Accepted', {
    meaning: 'The embedding profile is not in the configuration of the operator.',
    cure: 'Create the knowledge base with a profile that the message lists, or add the profile to PARLEY_EMBEDDING_PROFILES.',
  }),
  UnknownRerankProfile: stalled('Accepted', {
    meaning: 'The rerank profile is not in the configuration of the operator. Searches go on as they were.',
    cure: 'Set `spec.reranking.profile` to a profile that the message lists, remove it, or add the profile to PARLEY_RERANK_PROFILES.',
  }),
  UnknownEvents: stalled('Accepted', {
    meaning: '`spec.events` names an event that this version does not know. The events that it does know are delivered all the same.',
    cure: 'Correct the name; the message lists the known ones.',
  }),
  AddressForbidden: stalled('Accepted', {
    meaning:
      'An address may not be called: it is not on the public internet, has a port that is not allowed, or is not a web or SIP address. An agent serves all the same, unless it is the `baseURL` of a provider, and a phone number keeps its former trunk.',
    cure: 'Use an address that the message allows, or have the operator of the installation allow it (PARLEY_EGRESS_ALLOW_CIDRS, PARLEY_EGRESS_PORTS, PARLEY_SIP_ALLOW_CIDRS for SIP).',
  }),
} as const satisfies Record<string, ReasonDefinition>;
