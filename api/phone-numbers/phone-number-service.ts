/** Making, changing and deleting phone numbers. */
import { API_VERSION, phoneNumberKind, wellKnown, type PhoneNumber, type PhoneNumberSpec } from '../../crds/index.ts';
import type { Stored } from '../../kube/types.ts';
import type { Draft } from '../codec/present.ts';
import { masked } from '../codec/secrets.ts';
import { ValidationFailed } from '../http/api-error.ts';
import { mayReadSecrets, type Caller } from '../http/caller.ts';
import { shapeOf } from '../partial/shape.ts';
import { unknownReferences } from '../references/unknown-references.ts';
import type { Foundation } from '../resources/foundation.ts';
import { inRestWords } from '../resources/kube-failures.ts';
import { isObjectName, randomId } from '../resources/names.ts';
import { ResourceWriter, type WriteMode } from '../resources/resource-writer.ts';
import { requireCallable } from '../validation/address-issues.ts';
import { issues, type ValidationIssue } from '../validation/issue.ts';
import { phoneNumberFromRest, phoneNumberSecretRefs, phoneNumberToRest } from './codec.ts';
import { phoneNumberFieldNames } from './field-names.ts';
import { NumberOwnership } from './number-ownership.ts';
import type { PhoneNumberCreate, PhoneNumberUpdate } from './schema.ts';

export interface UpdateOptions extends WriteMode {
  /** @throws ApiError `precondition_failed` when the request was made for another state. */
  readonly requireState: (resourceVersion: string) => void;
}

export class PhoneNumberService {
  readonly #foundation: Foundation;
  readonly #ownership: NumberOwnership;
  readonly #writer: ResourceWriter<PhoneNumber>;

  constructor(foundation: Foundation) {
    this.#foundation = foundation;
    this.#ownership = new NumberOwnership(foundation);
    this.#writer = new ResourceWriter({
      foundation,
      kind: 'PhoneNumber',
      client: foundation.clients.phoneNumbers,
      view: foundation.views.phoneNumbers,
      shape: shapeOf(phoneNumberKind.spec),
      fieldNames: phoneNumberFieldNames,
      secretRefs: phoneNumberSecretRefs,
    });
  }

  list(org: string): Promise<readonly Stored<PhoneNumber>[]> {
    return this.#foundation.views.phoneNumbers.find('namespace', org);
  }

  /** For an answer. @returns undefined when there is no such phone number */
  async find(org: string, name: string): Promise<Stored<PhoneNumber> | undefined> {
    return isObjectName(name) ? this.#foundation.views.phoneNumbers.get(org, name) : undefined;
  }

  async create(caller: Caller, body: PhoneNumberCreate, mode: Pick<WriteMode, 'dryRun'>): Promise<Stored<PhoneNumber>> {
    const { org } = caller;
    const name = `pn-${randomId()}`;
    const secrets = await this.#writer.secretWriter(caller, name, undefined);
    const found: ValidationIssue[] = [];
    const spec = { ...phoneNumberFromRest(body, undefined, { secrets, found }), deletionPolicy: 'Delete' as const };
    if (body.provider === 'native' && !this.#foundation.nativeNumbers.has(body.phone_number))
      found.push(
        issues.value(['body', 'phone_number'], 'this deployment has no such number of its own; use one of its pool, or another provider'),
      );
    this.#requireCallable(spec, undefined, found);
    found.push(...(await this.#unknownAgents(org, body, undefined)));
    if (found.length > 0) throw new ValidationFailed(found);
    const contest = await this.#ownership.requireFree(org, body.phone_number);
    const annotations = caller.userId === null ? undefined : { [wellKnown.createdBy]: caller.userId };
    const metadata = { namespace: org, name, ...(annotations && { annotations }) };
    const object = { apiVersion: API_VERSION, kind: 'PhoneNumber', metadata, spec } as unknown as PhoneNumber;
    return inRestWords(phoneNumberFieldNames, async () => {
      const created = await this.#writer.create(object, secrets.pending, mode);
      if (mode.dryRun) return created;
      try {
        await this.#ownership.claim(created, contest);
      } catch (error) {
        await this.#writer.takeBack(created);
        throw error;
      }
      return created;
    });
  }

  /** @returns undefined when there is no such phone number */
  async update(caller: Caller, name: string, body: PhoneNumberUpdate, options: UpdateOptions): Promise<Stored<PhoneNumber> | undefined> {
    const { org } = caller;
    const bringsSecrets = 'sip_trunk_password' in body || 'carrier_auth_token' in body;
    return inRestWords(phoneNumberFieldNames, () =>
      this.#writer.update(
        org,
        name,
        async (stored) => {
          options.requireState(stored.metadata.resourceVersion);
          const secrets = await this.#writer.secretWriter(caller, name, bringsSecrets ? stored : undefined);
          const found: ValidationIssue[] = [];
          const spec = phoneNumberFromRest(body, stored.spec, { secrets, found });
          this.#requireCallable(spec, stored.spec, found);
          found.push(...(await this.#unknownAgents(org, body, stored.spec)));
          if (found.length > 0) throw new ValidationFailed(found);
          return { spec, secrets: secrets.pending };
        },
        options,
      ),
    );
  }

  /** @returns false when there is no such phone number */
  async delete(org: string, name: string, options: Pick<UpdateOptions, 'dryRun' | 'requireState'>): Promise<boolean> {
    if (!isObjectName(name)) return false;
    const decide = (stored: Stored<PhoneNumber>): boolean => {
      options.requireState(stored.metadata.resourceVersion);
      return true;
    };
    return inRestWords(phoneNumberFieldNames, () => this.#writer.delete(org, name, decide, options));
  }

  async view(caller: Caller, phoneNumber: Stored<PhoneNumber>): Promise<Readonly<Record<string, unknown>>> {
    const secrets = mayReadSecrets(caller)
      ? await this.#foundation.companions.secretsToShow(caller.org, phoneNumberSecretRefs(phoneNumber.spec))
      : masked;
    return { ...phoneNumberToRest(phoneNumber, secrets), state: this.#foundation.states.phoneNumber(phoneNumber) };
  }

  #requireCallable(spec: Draft<PhoneNumberSpec>, previous: PhoneNumberSpec | undefined, found: ValidationIssue[]): void {
    const [value, before] = [spec.sip?.terminationURI, previous?.sip?.terminationURI];
    requireCallable({ loc: ['body', 'sip_termination_uri'], value, before, check: this.#foundation.addresses.sip }, found);
  }

  #unknownAgents(
    org: string,
    body: PhoneNumberCreate | PhoneNumberUpdate,
    previous: Draft<PhoneNumberSpec> | undefined,
  ): Promise<readonly ValidationIssue[]> {
    return unknownReferences(this.#foundation.views.agents, org, 'AI agent', [
      { loc: ['body', 'inbound_agent_id'], id: body.inbound_agent_id, before: [previous?.inboundAgentRef?.name] },
      { loc: ['body', 'outbound_agent_id'], id: body.outbound_agent_id, before: [previous?.outboundAgentRef?.name] },
    ]);
  }
}
