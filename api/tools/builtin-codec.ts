/** Built-in tools: REST ↔ ToolSpec. Pure. */
import { isSip, sipOriginOf } from '../../voice/calls/sip/termination.ts';
import { builtinFunctionNames, type ToolSpec } from '../../crds/index.ts';
import { unchangedNothing } from '../codec/headers.ts';
import { present, updated, type Draft } from '../codec/present.ts';
import { movedSecrets, type SecretUse } from '../codec/secret-origins.ts';
import { refId, type KeyRef, type SecretValues } from '../codec/secrets.ts';
import { mask } from '../http/caller.ts';
import { builtinVariants, type BuiltinToolUpdate, type BuiltinVariant } from './builtin-schema.ts';
import { messagesFromRest, messagesToRest, type ToolEncoding } from './codec.ts';

/** Undefined for a custom tool. */
export function builtinVariantOf(spec: Draft<ToolSpec>): BuiltinVariant | undefined {
  return builtinVariants.find((variant) => spec[variant] !== undefined);
}

export function builtinToolToRest(spec: ToolSpec, variant: BuiltinVariant, secrets: SecretValues): Readonly<Record<string, unknown>> {
  return {
    tool_name: builtinFunctionNames[variant],
    ...fieldsToRest(spec, variant, secrets),
    tool_description: spec.description,
    ...messagesToRest(spec),
  };
}

function fieldsToRest(spec: ToolSpec, variant: BuiltinVariant, secrets: SecretValues): Readonly<Record<string, unknown>> {
  const { sendEmail, transferCall } = spec;
  if (variant === 'sendEmail') return { from_email: sendEmail?.from, app_password: secretToRest(sendEmail?.passwordSecretRef, secrets) };
  if (variant === 'transferCall') {
    return {
      transfer_to: transferCall?.to,
      transfer_type: transferCall?.mode === 'Warm' ? 'warm_transfer' : 'cold_transfer',
      display_phone_number: transferCall?.showCallerNumber,
    };
  }
  const calendar = spec[variant];
  return {
    event_type_id: calendar?.eventTypeID,
    cal_api_key: secretToRest(calendar?.apiKeySecretRef, secrets),
    timezone: calendar?.timeZone,
  };
}

function secretToRest(ref: KeyRef | undefined, secrets: SecretValues): string | undefined {
  return ref === undefined ? undefined : (secrets.read(ref) ?? mask);
}

/**
 * @param previous the stored spec, of which everything that the request doesn't name is kept
 * @returns the whole spec as it should be; failures are added to `encoding.found`
 */
export function builtinToolFromRest(body: BuiltinToolUpdate, previous: ToolSpec | undefined, encoding: ToolEncoding): Draft<ToolSpec> {
  const secret = (name: string, value: string | undefined, stored: KeyRef | undefined): KeyRef | undefined => {
    if (value === undefined) return stored;
    if (value !== mask) return encoding.secrets.write(name.replaceAll('_', '-'), value, stored);
    if (stored === undefined) encoding.found.push(unchangedNothing([...encoding.loc, name]));
    return stored;
  };
  const desired = present({
    ...previous,
    description: updated(body.tool_description, previous?.description, (text) => text),
    messages: messagesFromRest(body, previous?.messages),
    ...fieldsFromRest(body, previous, secret),
  }) as Draft<ToolSpec>;
  if (previous !== undefined)
    encoding.found.push(...movedSecrets(secretUses(previous, encoding), secretUses(desired, encoding), encoding.secrets));
  return desired;
}

/**
 * Where the tool sends which secret: the sender's domain decides about the mail server, and calendars have one address for the
 * installation. A call that is handed to a SIP address goes through the trunk of its number, whose login is stored.
 */
function secretUses({ sendEmail, transferCall }: Draft<ToolSpec>, { loc }: ToolEncoding): readonly SecretUse[] {
  const uses: SecretUse[] = [];
  if (sendEmail?.passwordSecretRef !== undefined) {
    const origin = { from_email: domainOf(sendEmail.from ?? '') };
    uses.push({ id: refId(sendEmail.passwordSecretRef as KeyRef), loc: [...loc, 'app_password'], origin });
  }
  if (transferCall?.to !== undefined) {
    const origin = isSip(transferCall.to) ? { transfer_to: sipOriginOf(transferCall.to) } : undefined;
    uses.push({ id: 'trunk', loc: [...loc, 'transfer_to'], origin, unsendable: true });
  }
  return uses;
}

const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1).toLowerCase();

function fieldsFromRest(
  body: BuiltinToolUpdate,
  previous: ToolSpec | undefined,
  secret: (name: string, value: string | undefined, stored: KeyRef | undefined) => KeyRef | undefined,
): object {
  if (body.tool_name === 'send_email') {
    const { sendEmail } = previous ?? {};
    const passwordSecretRef = secret('app_password', body.app_password, sendEmail?.passwordSecretRef);
    return { sendEmail: present({ ...sendEmail, from: body.from_email ?? sendEmail?.from, passwordSecretRef }) };
  }
  if (body.tool_name === 'transfer_call') {
    const { transferCall } = previous ?? {};
    return {
      transferCall: present({
        ...transferCall,
        to: body.transfer_to ?? transferCall?.to,
        mode: updated(body.transfer_type, transferCall?.mode, (type) => (type === 'warm_transfer' ? 'Warm' : 'Cold')),
        showCallerNumber: updated(body.display_phone_number, transferCall?.showCallerNumber, (shown) => shown),
      }),
    };
  }
  const variant = body.tool_name === 'book_calendar' ? 'bookCalendar' : 'checkCalendarAvailability';
  const calendar = previous?.[variant];
  return {
    [variant]: present({
      ...calendar,
      eventTypeID: body.event_type_id ?? calendar?.eventTypeID,
      apiKeySecretRef: secret('cal_api_key', body.cal_api_key, calendar?.apiKeySecretRef),
      timeZone: updated(body.timezone, calendar?.timeZone, (zone) => zone),
    }),
  };
}
