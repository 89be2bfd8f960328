/** The trunks and the rule that a number needs at the media server. Pure. */
import { isIP } from 'node:net';

import { countryOf } from '../../calls/sip/regions.ts';
import { terminationOf, type Termination } from '../../calls/sip/termination.ts';
import type { SipSpec } from '../../calls/sip/trunk-specs.ts';
import type { PhoneNumber } from '../../crds/index.ts';

export interface TrunkSettings {
  /** Addresses and networks that calls of numbers without a login may come from; anywhere, where empty. */
  readonly allowedAddresses: readonly string[];
  /** Addresses to which calls of numbers with type Native and Carrier go. */
  readonly native?: { readonly uri: string; readonly username?: string | undefined; readonly password?: string | undefined };
  readonly carrier?: { readonly uri: string };
}

export interface DesiredTrunks {
  readonly inbound: Extract<SipSpec, { kind: 'inbound' }>;
  /** Absent where the number has nothing to call through. */
  readonly outbound?: Extract<SipSpec, { kind: 'outbound' }>;
  /** The rule for an existing inbound trunk; absent without an agent that answers. */
  readonly rule?: (inboundTrunk: string) => Extract<SipSpec, { kind: 'rule' }>;
  /** Why the number cannot call, although an agent is named for that. */
  readonly lacking?: string;
}

/** @param password - the text behind the reference of the spec; absent where it names none */
export function desiredTrunks(phoneNumber: PhoneNumber, settings: TrunkSettings, password: string | undefined): DesiredTrunks {
  const { spec, metadata } = phoneNumber;
  const { number } = spec;
  const name = `${metadata.namespace ?? ''}/${metadata.name}`;
  const { termination, login, lacking } = terminationFor(phoneNumber, settings, password);
  // Callers have to log in only where the trunk has a login of its own; the deployment's login is not for callers.
  const asksForLogin = login !== undefined && spec.type !== 'Native';
  return {
    inbound: {
      kind: 'inbound',
      name,
      number,
      addresses: asksForLogin ? [] : allowedFor(termination, settings),
      ...(asksForLogin && { login }),
    },
    ...(termination && {
      outbound: {
        kind: 'outbound',
        name,
        number,
        ...termination,
        country: (spec.sip && countryOf(spec.sip.region)) ?? '',
        ...(login && { login }),
      },
    }),
    ...(spec.inboundAgentRef && { rule: (trunk: string) => ({ kind: 'rule', name, trunk }) as const }),
    ...(spec.outboundAgentRef !== undefined && termination === undefined && { lacking }),
  };
}

interface TerminationPlan {
  readonly termination?: Termination;
  readonly login?: { readonly username: string; readonly password: string };
  readonly lacking: string;
}

function terminationFor({ spec }: PhoneNumber, { native, carrier }: TrunkSettings, password: string | undefined): TerminationPlan {
  const plan = (uri: string | undefined, username: string | undefined, secret: string | undefined, lacking: string): TerminationPlan => {
    const termination = uri === undefined ? undefined : terminationOf(uri);
    return {
      lacking,
      ...(termination && { termination }),
      ...(username !== undefined && secret !== undefined && { login: { username, password: secret } }),
    };
  };
  if (spec.type === 'SIP') {
    const { terminationURI, username } = spec.sip ?? {};
    return plan(terminationURI, username, password, 'the number names no trunk to call through; set spec.sip.terminationURI');
  }
  if (spec.type === 'Carrier') {
    const lacking = 'the deployment has no address of its carrier; have PARLEY_CARRIER_TERMINATION_URI set for the operator';
    return plan(carrier?.uri, spec.carrier?.accountSID, password, lacking);
  }
  const lacking = 'the deployment has no trunk for calls from its own numbers; have PARLEY_NATIVE_TERMINATION_URI set for the operator';
  return plan(native?.uri, native?.username, native?.password, lacking);
}

/** A trunk's calls come from its own IP address; a host name may stand for any. */
function allowedFor(termination: Termination | undefined, { allowedAddresses }: TrunkSettings): readonly string[] {
  if (allowedAddresses.length === 0) return [];
  const host = termination?.address.replace(/:\d+$/, '').replace(/^\[|\]$/g, '') ?? '';
  return [...new Set([...allowedAddresses, ...(isIP(host) === 0 ? [] : [host])])];
}
