/** Makes, changes and deletes phone numbers. */
import { phoneNumberKind, type PhoneNumber, type PhoneNumberSpec } from '../../crds/index.ts';
import type { Stored } from '../../kube/types.ts';
import type { Draft } from '../codec/draft.ts';
import { requireNoIssues } from '../http/api-error.ts';
import type { Caller } from '../http/caller.ts';
import type { KindContext } from '../kinds/context.ts';
import { unknownReferences } from '../references/unknown-references.ts';
import { usersAmong, type FindUsers } from '../references/users.ts';
import { readableName } from '../resources/names.ts';
import { ResourceWriter, type ResourceKind, type WriteMode, type Written } from '../resources/resource-writer.ts';
import { sameJson } from '../../platform/json.ts';
import { issues, type ValidationIssue } from '../validation/issue.ts';
import {
  phoneNumberFieldNames,
  phoneNumberFromRest,
  phoneNumberSecretRefs,
  phoneNumberToRest,
  type PhoneNumberCreate,
  type PhoneNumberUpdate,
} from './fields.ts';
import { NumberOwnership, type NumberOwnershipOptions } from './number-ownership.ts';

export const phoneNumberResource: ResourceKind<PhoneNumber> = {
  definition: phoneNumberKind,
  fieldNames: phoneNumberFieldNames,
  companionRefs: (spec) => ({ Secret: phoneNumberSecretRefs(spec) }),
};

export function phoneNumbersOfAgent(context: KindContext): FindUsers {
  const { phoneNumbers } = context.views;
  return usersAmong(new ResourceWriter(context, phoneNumberResource, phoneNumbers), {
    noun: 'phone number',
    permission: 'phone_numbers:write',
    find: async (org, agent) =>
      (await phoneNumbers.list(org)).filter(({ spec }) => spec.inboundAgentRef?.name === agent || spec.outboundAgentRef?.name === agent),
    without: ({ inboundAgentRef, outboundAgentRef, ...rest }, agent) => ({
      ...rest,
      ...(inboundAgentRef && inboundAgentRef.name !== agent && { inboundAgentRef }),
      ...(outboundAgentRef && outboundAgentRef.name !== agent && { outboundAgentRef }),
    }),
  });
}

export class PhoneNumberService {
  readonly #context: KindContext;
  readonly #limits: NumberOwnershipOptions['limits'];
  readonly #ownership: NumberOwnership;
  readonly #writer: ResourceWriter<PhoneNumber>;

  constructor(options: NumberOwnershipOptions) {
    this.#context = options.context;
    this.#limits = options.limits;
    this.#ownership = new NumberOwnership(options);
    this.#writer = new ResourceWriter(options.context, phoneNumberResource, options.context.views.phoneNumbers);
  }

  async create(caller: Caller, body: PhoneNumberCreate, mode: Pick<WriteMode, 'dryRun'>): Promise<Stored<PhoneNumber>> {
    const name = readableName('pn', body.friendly_name || `pn-${body.phone_number}`);
    const secrets = await this.#writer.secretWriter(caller, name, undefined);
    const found: ValidationIssue[] = [];
    const spec = phoneNumberFromRest(body, undefined, { secrets, loc: ['body'], found });
    if (body.provider === 'native' && !this.#limits.nativeNumbers.has(body.phone_number))
      found.push(
        issues.value(['body', 'phone_number'], 'this deployment has no such number of its own; use one of its pool, or another provider'),
      );
    await this.#requireSound(caller, body, spec, undefined, found);
    const contest = await this.#ownership.requireFree(caller.org, body.phone_number);
    const confirm = ({ object }: Written<PhoneNumber>) => this.#ownership.claim(object, contest);
    return (await this.#writer.create(caller, name, { spec, companions: { Secret: secrets } }, { ...mode, confirm })).object;
  }

  async update(caller: Caller, name: string, body: PhoneNumberUpdate, mode: WriteMode): Promise<Stored<PhoneNumber> | undefined> {
    const bringsSecrets = 'sip_trunk_password' in body || 'carrier_auth_token' in body;
    const change = async (stored: Stored<PhoneNumber>) => {
      const secrets = await this.#writer.secretWriter(caller, name, bringsSecrets ? stored : undefined);
      const found: ValidationIssue[] = [];
      const spec = phoneNumberFromRest(body, stored.spec, { secrets, loc: ['body'], found });
      await this.#requireSound(caller, body, spec, stored.spec, found);
      return { spec, companions: { Secret: secrets } };
    };
    return (await this.#writer.update(caller.org, name, change, mode))?.object;
  }

  /** @returns false when there is no such phone number */
  delete(org: string, name: string, mode: Pick<WriteMode, 'dryRun' | 'requireState'>): Promise<boolean> {
    return this.#writer.delete(org, name, mode);
  }

  async view(caller: Caller, phoneNumber: Stored<PhoneNumber>): Promise<Readonly<Record<string, unknown>>> {
    const secrets = await this.#context.companions.secretsToShow(caller, phoneNumberSecretRefs(phoneNumber.spec));
    return phoneNumberToRest(phoneNumber, { secrets, state: this.#context.states.phoneNumber(phoneNumber) });
  }

  /** @throws ValidationError with the issues in `found`, and with everything that only shows against the stored state */
  async #requireSound(
    { org }: Caller,
    body: PhoneNumberCreate | PhoneNumberUpdate,
    spec: Draft<PhoneNumberSpec>,
    previous: PhoneNumberSpec | undefined,
    found: readonly ValidationIssue[],
  ): Promise<void> {
    const uri = spec.sip?.terminationURI;
    const loc = ['body', 'sip_termination_uri'];
    const isChecked = uri === undefined || uri === previous?.sip?.terminationURI || found.some((other) => sameJson(other.loc, loc));
    const forbidden = isChecked ? undefined : this.#context.addresses.sip(uri);
    const unknown = await unknownReferences(this.#context.views.agents, org, 'AI agent', [
      { loc: ['body', 'inbound_agent_id'], id: body.inbound_agent_id, before: [previous?.inboundAgentRef?.name] },
      { loc: ['body', 'outbound_agent_id'], id: body.outbound_agent_id, before: [previous?.outboundAgentRef?.name] },
    ]);
    requireNoIssues([...found, ...(forbidden === undefined ? [] : [issues.value(loc, forbidden)]), ...unknown]);
  }
}
