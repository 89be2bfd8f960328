/** Trunks and dispatch rules at the media server: what each is to be, and those that are there. */
import { createHmac, randomBytes } from 'node:crypto';

import {
  RoomConfiguration,
  SipClient,
  SIPDispatchRule,
  SIPDispatchRuleIndividual,
  SIPDispatchRuleInfo,
  SIPInboundTrunkInfo,
  SIPOutboundTrunkInfo,
  TwirpError,
} from 'livekit-server-sdk';

import type { MediaServer } from '../media-server.ts';
import { agentDispatch, restartPolicy } from '../room-options.ts';
import { inboundDispatchMetadata, inboundRoomPrefix } from './dispatch.ts';

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

/** A thing that is there. What it is like is kept as a digest alone: passwords belong to it. */
export interface SipThing extends Ownership {
  readonly kind: SipKind;
  readonly id: string;
  readonly digest: string;
}

/** A request that the media server didn't carry out. */
export class SipRefusal extends Error {
  override readonly name = 'SipRefusal';
  /**
   * `refused`: what was asked for; `login`: the key of Parley; `without_redis`: it keeps no trunks;
   * `gone`: the thing isn't there any more; `unavailable`: everything else, and trying again may help.
   */
  readonly kind: 'refused' | 'login' | 'without_redis' | 'gone' | 'unavailable';

  constructor(kind: SipRefusal['kind'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

export interface SipTrunks {
  /** Everything of Parley's, whoever's it is. */
  list(): Promise<readonly SipThing[]>;
  create(spec: SipSpec, owner: Ownership): Promise<SipThing>;
  /** Makes an existing thing what it is to be, and whose. */
  replace(id: string, spec: SipSpec, owner: Ownership): Promise<SipThing>;
  /** One that isn't there is removed. */
  remove(thing: Pick<SipThing, 'kind' | 'id'>): Promise<void>;
  /** Tells whether two things are alike; differs from process to process, so that it tells nothing else. */
  digest(spec: SipSpec): string;
}

/** Longest time for one request, in seconds. */
const requestSeconds = 5;
/** A room of a call that nobody is in any more, and one that nobody has come into, in seconds. */
const emptySeconds = 20;

const transports: readonly SipTransport[] = ['auto', 'udp', 'tcp', 'tls'];

/** The SDK keeps the enumeration to itself, but reads its names. */
function transportNumber(transport: SipTransport): SIPOutboundTrunkInfo['transport'] {
  return SIPOutboundTrunkInfo.fromJson({ transport: `SIP_TRANSPORT_${transport.toUpperCase()}` }).transport;
}

/** Each throws {@link SipRefusal}, and nothing else, within 5 s. */
export function createSipTrunks(server: Pick<MediaServer, 'url' | 'apiKey' | 'apiSecret' | 'agentName'>): SipTrunks {
  const { url, apiKey, apiSecret, agentName } = server;
  const client = new SipClient(url.replace(/^ws/, 'http'), apiKey, apiSecret, { requestTimeout: requestSeconds, failover: false });
  const key = randomBytes(32);
  const digest = (spec: SipSpec): string =>
    createHmac('sha256', key)
      .update(JSON.stringify(ordered(spec)))
      .digest('base64url');
  const thing = (id: string, spec: SipSpec, owner: Ownership): SipThing => ({ ...owner, kind: spec.kind, id, digest: digest(spec) });
  const found = (id: string, metadata: string, spec: () => SipSpec | undefined): readonly SipThing[] => {
    const owner = ownerOf(metadata);
    if (owner === undefined) return [];
    const is = spec();
    // Somebody has changed it into something that Parley never makes: different from whatever it is to be.
    return [is === undefined ? { ...owner, kind: 'rule', id, digest: '' } : thing(id, is, owner)];
  };
  return {
    digest,
    async list() {
      return asked(async () => {
        const [inbound, outbound, rules] = await Promise.all([
          client.listSipInboundTrunk(),
          client.listSipOutboundTrunk(),
          client.listSipDispatchRule(),
        ]);
        return [
          ...inbound.flatMap((info) => found(info.sipTrunkId, info.metadata, () => inboundSpec(info))),
          ...outbound.flatMap((info) => found(info.sipTrunkId, info.metadata, () => outboundSpec(info))),
          ...rules.flatMap((info) => found(info.sipDispatchRuleId, info.metadata, () => ruleSpec(info, agentName))),
        ];
      });
    },
    async create(spec, owner) {
      return asked(async () => {
        const metadata = metadataOf(owner);
        switch (spec.kind) {
          case 'inbound': {
            const { sipTrunkId } = await client.createSipInboundTrunk(spec.name, [spec.number], {
              metadata,
              allowedAddresses: [...spec.addresses],
              ...loginOf(spec.login),
            });
            return thing(sipTrunkId, spec, owner);
          }
          case 'outbound': {
            const { sipTrunkId } = await client.createSipOutboundTrunk(spec.name, spec.address, [spec.number], {
              metadata,
              transport: transportNumber(spec.transport),
              destinationCountry: spec.country,
              ...loginOf(spec.login),
            });
            return thing(sipTrunkId, spec, owner);
          }
          default: {
            const { sipDispatchRuleId } = await client.createSipDispatchRule(
              { type: 'individual', roomPrefix: inboundRoomPrefix },
              { name: spec.name, metadata, trunkIds: [spec.trunk], roomConfig: roomConfiguration(agentName) },
            );
            return thing(sipDispatchRuleId, spec, owner);
          }
        }
      });
    },
    async replace(id, spec, owner) {
      return asked(async () => {
        const metadata = metadataOf(owner);
        switch (spec.kind) {
          case 'inbound': {
            const { name, number, addresses, login } = spec;
            await client.updateSipInboundTrunk(
              id,
              new SIPInboundTrunkInfo({ name, metadata, numbers: [number], allowedAddresses: [...addresses], ...loginOf(login) }),
            );
            break;
          }
          case 'outbound': {
            const { name, number, address, transport, login, country } = spec;
            await client.updateSipOutboundTrunk(
              id,
              new SIPOutboundTrunkInfo({
                name,
                metadata,
                numbers: [number],
                address,
                transport: transportNumber(transport),
                destinationCountry: country,
                ...loginOf(login),
              }),
            );
            break;
          }
          default:
            await client.updateSipDispatchRule(
              id,
              new SIPDispatchRuleInfo({
                name: spec.name,
                metadata,
                trunkIds: [spec.trunk],
                roomConfig: roomConfiguration(agentName),
                rule: new SIPDispatchRule({
                  rule: { case: 'dispatchRuleIndividual', value: new SIPDispatchRuleIndividual({ roomPrefix: inboundRoomPrefix }) },
                }),
              }),
            );
        }
        return thing(id, spec, owner);
      });
    },
    async remove({ kind, id }) {
      try {
        await asked(async () => (kind === 'rule' ? client.deleteSipDispatchRule(id) : client.deleteSipTrunk(id)));
      } catch (error) {
        if (!(error instanceof SipRefusal && error.kind === 'gone')) throw error;
      }
    },
  };
}

function metadataOf({ uid, number }: Ownership): string {
  return JSON.stringify({ 'parley.dev/phone-number': uid, number });
}

function ownerOf(metadata: string): Ownership | undefined {
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
function roomConfiguration(agentName: string): RoomConfiguration {
  return new RoomConfiguration({
    emptyTimeout: emptySeconds,
    departureTimeout: emptySeconds,
    agents: [agentDispatch(agentName, inboundDispatchMetadata)],
  });
}

function inboundSpec(info: SIPInboundTrunkInfo): SipSpec {
  const { name, numbers, allowedAddresses, allowedNumbers } = info;
  // Callers that somebody shut out make it another trunk, too.
  return { kind: 'inbound', name, number: [...numbers, ...allowedNumbers].join(' '), addresses: allowedAddresses, ...readLogin(info) };
}

function outboundSpec(info: SIPOutboundTrunkInfo): SipSpec {
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

function ruleSpec(info: SIPDispatchRuleInfo, agentName: string): SipSpec | undefined {
  const { name, trunkIds, roomConfig, rule } = info;
  const [agent, ...others] = roomConfig?.agents ?? [];
  const sound =
    rule?.rule.case === 'dispatchRuleIndividual' &&
    rule.rule.value.roomPrefix === inboundRoomPrefix &&
    rule.rule.value.pin === '' &&
    trunkIds.length === 1 &&
    others.length === 0 &&
    agent?.agentName === agentName &&
    agent.metadata === inboundDispatchMetadata &&
    agent.restartPolicy === restartPolicy &&
    roomConfig?.emptyTimeout === emptySeconds;
  return sound ? { kind: 'rule', name, trunk: trunkIds[0] ?? '' } : undefined;
}

/** With its fields in one order, whoever made it. */
function ordered(spec: SipSpec): unknown {
  const sort = (value: unknown): unknown =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.entries(value as Readonly<Record<string, unknown>>)
          .filter(([, field]) => field !== undefined)
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([name, field]) => [name, sort(field)])
      : value;
  return sort(spec);
}

async function asked<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    throw refusalOf(error);
  }
}

function refusalOf(error: unknown): SipRefusal {
  const options = { cause: error };
  if (!(error instanceof TwirpError)) {
    const late = error instanceof Error && error.name === 'TimeoutError';
    return new SipRefusal('unavailable', late ? `it has not answered within ${requestSeconds} s` : 'it cannot be reached', options);
  }
  switch (error.code) {
    case 'not_found':
      return new SipRefusal('gone', error.message, options);
    case 'unauthenticated':
    case 'permission_denied':
      return new SipRefusal('login', 'it refuses LIVEKIT_API_KEY with LIVEKIT_API_SECRET', options);
    case 'invalid_argument':
    case 'already_exists':
    case 'failed_precondition':
      return new SipRefusal('refused', error.message, options);
    default:
      return /sip not connected/i.test(error.message)
        ? new SipRefusal('without_redis', 'it runs without Redis', options)
        : new SipRefusal('unavailable', `it fails (${error.code ?? error.status})`, options);
  }
}
