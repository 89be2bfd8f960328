/** The desired trunks and dispatch rules, and the media server's form of them. */
import {
  RoomConfiguration,
  SIPDispatchRule,
  SIPDispatchRuleIndividual,
  SIPDispatchRuleInfo,
  SIPInboundTrunkInfo,
  SIPOutboundTrunkInfo,
} from 'livekit-server-sdk';

import { deletionPolicies } from '../../crds/status.ts';
import { agentDispatch } from '../room-options.ts';
import { INBOUND_DISPATCH_METADATA, INBOUND_ROOM_PREFIX } from '../names.ts';

/** The PhoneNumber that owns a trunk or rule; stored in its metadata, by which Parley finds it. */
export interface Ownership {
  /** Uid of the PhoneNumber. */
  readonly uid: string;
  readonly number: string;
  /** Policy of the PhoneNumber: it decides whether a trunk is removed that nobody could remove when the object went. */
  readonly deletionPolicy: (typeof deletionPolicies)[number];
}

interface Login {
  readonly username: string;
  readonly password: string;
}

export type SipTransport = 'auto' | 'udp' | 'tcp' | 'tls';

/** A desired trunk or rule. `name` is for people who look at the media server. Holds passwords: never to be printed. */
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

/** How long the room of an inbound call is kept that all have left, or that the caller never joined, in seconds. */
const EMPTY_INBOUND_ROOM_SECONDS = 20;

/** The SDK keeps the enumeration to itself, but reads its names. */
function transportNumber(transport: SipTransport): SIPOutboundTrunkInfo['transport'] {
  return SIPOutboundTrunkInfo.fromJson({ transport: `SIP_TRANSPORT_${transport.toUpperCase()}` }).transport;
}

export type SipInfo = SIPInboundTrunkInfo | SIPOutboundTrunkInfo | SIPDispatchRuleInfo;

/** @param options.agentName the agent that a rule dispatches */
export function infoOf(spec: SipSpec, { metadata, agentName }: { readonly metadata: string; readonly agentName: string }): SipInfo {
  const { name } = spec;
  if (spec.kind === 'rule') {
    return new SIPDispatchRuleInfo({
      name,
      metadata,
      trunkIds: [spec.trunk],
      roomConfig: roomConfiguration(agentName),
      rule: new SIPDispatchRule({
        rule: { case: 'dispatchRuleIndividual', value: new SIPDispatchRuleIndividual({ roomPrefix: INBOUND_ROOM_PREFIX }) },
      }),
    });
  }
  const trunk = {
    name,
    metadata,
    numbers: [spec.number],
    authUsername: spec.login?.username ?? '',
    authPassword: spec.login?.password ?? '',
  };
  if (spec.kind === 'inbound') return new SIPInboundTrunkInfo({ ...trunk, allowedAddresses: [...spec.addresses] });
  const { address, transport, country } = spec;
  return new SIPOutboundTrunkInfo({ ...trunk, address, transport: transportNumber(transport), destinationCountry: country });
}

export function metadataOf({ uid, number, deletionPolicy }: Ownership): string {
  return JSON.stringify({ 'parley.dev/phone-number': uid, number, deletionPolicy });
}

export function parseOwnership(metadata: string): Ownership | undefined {
  try {
    const { 'parley.dev/phone-number': uid, number, deletionPolicy } = JSON.parse(metadata) as Readonly<Record<string, unknown>>;
    if (typeof uid !== 'string' || typeof number !== 'string') return undefined;
    return { uid, number, deletionPolicy: deletionPolicies.find((policy) => policy === deletionPolicy) ?? 'Retain' };
  } catch {
    return undefined;
  }
}

/** The agent is dispatched with the room, once: a second job would know nothing of what was said. */
function roomConfiguration(agentName: string): RoomConfiguration {
  return new RoomConfiguration({
    emptyTimeout: EMPTY_INBOUND_ROOM_SECONDS,
    departureTimeout: EMPTY_INBOUND_ROOM_SECONDS,
    agents: [agentDispatch(agentName, INBOUND_DISPATCH_METADATA)],
  });
}

/** Returns all settings of a trunk or rule but its owner, to be compared: also passwords, and what Parley leaves empty but others may set. */
export function likenessOf(info: SipInfo): unknown {
  const { name } = info;
  if (info instanceof SIPDispatchRuleInfo) {
    const rule = info.rule?.rule;
    const rooms = rule?.case === 'dispatchRuleIndividual' ? [rule.value.roomPrefix, rule.value.pin] : rule?.case;
    const agents = info.roomConfig?.agents.map((agent) => [agent.agentName, agent.metadata, agent.restartPolicy]);
    return ['rule', name, info.trunkIds, rooms, agents, info.roomConfig?.emptyTimeout];
  }
  const { numbers, authUsername, authPassword } = info;
  if (info instanceof SIPInboundTrunkInfo)
    return ['inbound', name, numbers, authUsername, authPassword, info.allowedAddresses, info.allowedNumbers];
  return ['outbound', name, numbers, authUsername, authPassword, info.address, info.transport, info.destinationCountry];
}
