/** Phone numbers: REST ↔ PhoneNumberSpec. Pure. */
import { sipOriginOf } from '../../voice/calls/sip/termination.ts';
import { phoneNumberVariants, type PhoneNumber, type PhoneNumberSpec } from '../../crds/index.ts';
import { unchangedNothing } from '../codec/headers.ts';
import { present, updated, type Draft } from '../codec/present.ts';
import { movedSecrets, type SecretUse } from '../codec/secret-origins.ts';
import { refId, type KeyRef, type SecretReader, type SecretWriter } from '../codec/secrets.ts';
import { mask } from '../http/caller.ts';
import { issues, type ValidationIssue } from '../validation/issue.ts';
import type { PhoneNumberCreate, PhoneNumberUpdate, Provider } from './schema.ts';

export function providerOf(spec: Draft<PhoneNumberSpec>): Provider {
  return phoneNumberVariants.find((variant) => spec[variant] !== undefined) ?? 'native';
}

/** The phone number object of the contract: the fields of its own variant, and none of another. */
export function phoneNumberToRest({ metadata, spec }: PhoneNumber, secrets: SecretReader): Readonly<Record<string, unknown>> {
  const secret = (ref: KeyRef | undefined): string | null => (ref === undefined ? null : (secrets.read(ref) ?? mask));
  const { sip, carrier } = spec;
  return {
    _id: metadata.name,
    provider: providerOf(spec),
    phone_number: spec.number,
    friendly_name: spec.friendlyName ?? null,
    inbound_agent_id: spec.inboundAgentRef?.name ?? null,
    outbound_agent_id: spec.outboundAgentRef?.name ?? null,
    ...(sip && {
      sip_termination_uri: sip.terminationURI ?? null,
      sip_trunk_username: sip.username ?? null,
      sip_trunk_password: secret(sip.passwordSecretRef),
      sip_infra_region: sip.region,
    }),
    ...(carrier && { carrier_account_sid: carrier.accountSID ?? null, carrier_auth_token: secret(carrier.authTokenSecretRef) }),
  };
}

export interface PhoneNumberEncoding {
  readonly secrets: SecretWriter;
  readonly found: ValidationIssue[];
}

/**
 * @param previous the stored spec, of which everything that the request doesn't name is kept
 * @returns the whole spec as it should be; failures are added to `encoding.found`
 */
export function phoneNumberFromRest(
  body: PhoneNumberCreate | PhoneNumberUpdate,
  previous: PhoneNumberSpec | undefined,
  encoding: PhoneNumberEncoding,
): Draft<PhoneNumberSpec> {
  if (previous !== undefined) encoding.found.push(...changesOfFixed(body, previous));
  const desired = present({
    ...previous,
    number: previous?.number ?? body.phone_number,
    friendlyName: updated(body.friendly_name, previous?.friendlyName, same),
    inboundAgentRef: updated(body.inbound_agent_id, previous?.inboundAgentRef, (name) => ({ name })),
    outboundAgentRef: updated(body.outbound_agent_id, previous?.outboundAgentRef, (name) => ({ name })),
    ...variantFromRest(body, previous, encoding),
  }) as Draft<PhoneNumberSpec>;
  if (previous !== undefined) encoding.found.push(...movedSecrets(secretUses(previous), secretUses(desired), encoding.secrets));
  return desired;
}

/** Where a number sends which secret: to its trunk, or to the carrier of the deployment, and with which account. */
function secretUses({ sip, carrier }: Draft<PhoneNumberSpec>): readonly SecretUse[] {
  const { terminationURI: uri, username, passwordSecretRef: password } = sip ?? {};
  const { accountSID, authTokenSecretRef: token } = carrier ?? {};
  const uses: SecretUse[] = [];
  if (password !== undefined) {
    const origin = uri === undefined || uri === '' ? undefined : { sip_termination_uri: sipOriginOf(uri), sip_trunk_username: username };
    uses.push({ id: refId(password as KeyRef), loc: ['body', 'sip_trunk_password'], origin });
  }
  if (token !== undefined)
    uses.push({ id: refId(token as KeyRef), loc: ['body', 'carrier_auth_token'], origin: { carrier_account_sid: accountSID } });
  return uses;
}

const same = <T>(value: T): T => value;

function variantFromRest(
  body: PhoneNumberCreate | PhoneNumberUpdate,
  previous: PhoneNumberSpec | undefined,
  encoding: PhoneNumberEncoding,
): object {
  const provider = previous === undefined ? body.provider : providerOf(previous);
  const secret = (name: string, sent: string | null | undefined, stored: KeyRef | undefined): KeyRef | undefined =>
    updated(sent, stored, (value) => {
      if (value !== mask) return encoding.secrets.write(name.replaceAll('_', '-'), value, stored);
      if (stored === undefined) encoding.found.push(unchangedNothing(['body', name]));
      return stored;
    });
  if (provider === 'sip') {
    const { sip } = previous ?? {};
    const sent = body as Extract<PhoneNumberCreate, { provider: 'sip' }>;
    return {
      sip: present({
        ...sip,
        terminationURI: updated(sent.sip_termination_uri, sip?.terminationURI, same),
        username: updated(sent.sip_trunk_username, sip?.username, same),
        passwordSecretRef: secret('sip_trunk_password', sent.sip_trunk_password, sip?.passwordSecretRef),
        // Said even where it is the default: a `sip` of which the last field is cleared would go itself.
        region: sip?.region ?? sent.sip_infra_region ?? 'global',
      }),
    };
  }
  if (provider === 'carrier') {
    const { carrier } = previous ?? {};
    const sent = body as Extract<PhoneNumberUpdate, { provider?: 'carrier' | undefined; carrier_auth_token?: unknown }>;
    return {
      carrier: present({
        ...carrier,
        accountSID: updated(sent.carrier_account_sid, carrier?.accountSID, same),
        authTokenSecretRef: secret('carrier_auth_token', sent.carrier_auth_token, carrier?.authTokenSecretRef),
      }),
    };
  }
  return previous === undefined ? { native: {} } : {};
}

/** The number itself and the region are decided when a number is made. */
function changesOfFixed(body: PhoneNumberCreate | PhoneNumberUpdate, previous: PhoneNumberSpec): readonly ValidationIssue[] {
  const found: ValidationIssue[] = [];
  if (body.phone_number !== undefined && body.phone_number !== previous.number)
    found.push(issues.value(['body', 'phone_number'], 'the number can not change: delete this phone number and make another one'));
  const region = 'sip_infra_region' in body ? body.sip_infra_region : undefined;
  if (region !== undefined && region !== previous.sip?.region)
    found.push(issues.value(['body', 'sip_infra_region'], 'the region can not change: delete this phone number and make it anew'));
  return found;
}

/** Every Secret key that a phone number refers to. */
export function phoneNumberSecretRefs({ sip, carrier }: Draft<PhoneNumberSpec>): readonly KeyRef[] {
  return [sip?.passwordSecretRef, carrier?.authTokenSecretRef].filter((ref) => ref !== undefined) as readonly KeyRef[];
}
