/** What trunks and dispatch rules are to be, and how the media server's own words say it: into them and out of them. */
import {
  RoomConfiguration,
  SIPDispatchRule,
  SIPDispatchRuleIndividual,
  SIPDispatchRuleInfo,
  SIPInboundTrunkInfo,
  SIPOutboundTrunkInfo,
} from 'livekit-server-sdk';

import { agentDispatch, RESTART_POLICY } from '../room-options.ts';
import { INBOUND_DISPATCH_METADATA, INBOUND_ROOM_PREFIX } from '../names.ts';

/** Whose a thing is; stands in its metadata, and it is found by that. */
export interface Ownership {
  /** Of the PhoneNumber. */
  readonly uid: string;
  readonly number: string;
}

interface Login {
  readonly username: string;
  readonly password: string;
}

export type SipTransport = 'auto' | 'udp' | 'tcp' | 'tls';

/** What a thing is to be. `name` is for people who look at the media server. Holds passwords: never to be printed. */
export type SipSpec =
  | {
      readonly kind: 'inbound';
      readonly name: string;
      readonly number: string;
      readonly login?: Login;
      readonly addresses: readonly string[];
    }
  | {
      readonly kind: 'outbound';
      readonly name: string;
      readonly number: string;
      /** Host, or host:port. */
      readonly address: string;
      readonly transport: SipTransport;
      readonly login?: Login;
      /** ISO 3166, where the call is to leave from; empty for anywhere. */
      readonly country: string;
    }
  | { readonly kind: 'rule'; readonly name: string; readonly trunk: string };

export type SipKind = SipSpec['kind'];

/** A room of a call that nobody is in any more, and one that nobody has come into, in seconds. */
const emptySeconds = 20;

const transports: readonly SipTransport[] = ['auto', 'udp', 'tcp', 'tls'];

/** The SDK keeps the enumeration to itself, but reads its names. */
function transportNumber(transport: SipTransport): SIPOutboundTrunkInfo['transport'] {
  return SIPOutboundTrunkInfo.fromJson({ transport: `SIP_TRANSPORT_${transport.toUpperCase()}` }).transport;
}

type SpecOf<K extends SipKind> = Extract<SipSpec, { readonly kind: K }>;

export function inboundInfo({ name, number, addresses, login }: SpecOf<'inbound'>, metadata: string): SIPInboundTrunkInfo {
  return new SIPInboundTrunkInfo({ name, metadata, numbers: [number], allowedAddresses: [...addresses], ...loginOf(login) });
}

export function outboundInfo(
  { name, number, address, transport, login, country }: SpecOf<'outbound'>,
  metadata: string,
): SIPOutboundTrunkInfo {
  return new SIPOutboundTrunkInfo({
    name,
    metadata,
    numbers: [number],
    address,
    transport: transportNumber(transport),
    destinationCountry: country,
    ...loginOf(login),
  });
}

export function ruleInfo(
  { name, trunk }: SpecOf<'rule'>,
  { metadata, agentName }: { readonly metadata: string; readonly agentName: string },
): SIPDispatchRuleInfo {
  return new SIPDispatchRuleInfo({
    name,
    metadata,
    trunkIds: [trunk],
    roomConfig: roomConfiguration(agentName),
    rule: new SIPDispatchRule({
      rule: { case: 'dispatchRuleIndividual', value: new SIPDispatchRuleIndividual({ roomPrefix: INBOUND_ROOM_PREFIX }) },
    }),
  });
}

export function metadataOf({ uid, number }: Ownership): string {
  return JSON.stringify({ 'parley.dev/phone-number': uid, number });
}

export function ownerOf(metadata: string): Ownership | undefined {
  try {
    const { 'parley.dev/phone-number': uid, number } = JSON.parse(metadata) as Readonly<Record<string, unknown>>;
    return typeof uid === 'string' && typeof number === 'string' ? { uid, number } : undefined;
  } catch {
    return undefined;
  }
}

function loginOf(login: Login | undefined): { authUsername: string; authPassword: string } {
  return { authUsername: login?.username ?? '', authPassword: login?.password ?? '' };
}

function readLogin({ authUsername: username, authPassword: password }: { authUsername: string; authPassword: string }): { login?: Login } {
  return username === '' && password === '' ? {} : { login: { username, password } };
}

/** The agent comes with the room. A job that is lost would know nothing of what was said, so that none comes in its place. */
export function roomConfiguration(agentName: string): RoomConfiguration {
  return new RoomConfiguration({
    emptyTimeout: emptySeconds,
    departureTimeout: emptySeconds,
    agents: [agentDispatch(agentName, INBOUND_DISPATCH_METADATA)],
  });
}

export function inboundSpec(info: SIPInboundTrunkInfo): SipSpec {
  const { name, numbers, allowedAddresses, allowedNumbers } = info;
  // Callers that somebody shut out make it another trunk, too.
  return { kind: 'inbound', name, number: [...numbers, ...allowedNumbers].join(' '), addresses: allowedAddresses, ...readLogin(info) };
}

export function outboundSpec(info: SIPOutboundTrunkInfo): SipSpec {
  const { name, numbers, address, transport, destinationCountry: country } = info;
  return {
    kind: 'outbound',
    name,
    number: numbers.join(' '),
    address,
    transport: transports[transport] ?? 'auto',
    country,
    ...readLogin(info),
  };
}

export function ruleSpec(info: SIPDispatchRuleInfo, agentName: string): SipSpec | undefined {
  const { name, trunkIds, roomConfig, rule } = info;
  const [agent, ...others] = roomConfig?.agents ?? [];
  const sound =
    rule?.rule.case === 'dispatchRuleIndividual' &&
    rule.rule.value.roomPrefix === INBOUND_ROOM_PREFIX &&
    rule.rule.value.pin === '' &&
    trunkIds.length === 1 &&
    others.length === 0 &&
    agent?.agentName === agentName &&
    agent.metadata === INBOUND_DISPATCH_METADATA &&
    agent.restartPolicy === RESTART_POLICY &&
    roomConfig?.emptyTimeout === emptySeconds;
  return sound ? { kind: 'rule', name, trunk: trunkIds[0] ?? '' } : undefined;
}
