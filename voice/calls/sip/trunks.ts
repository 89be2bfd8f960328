/** Trunks and dispatch rules at the media server: those that are there, made and changed. */
import { createHmac, randomBytes } from 'node:crypto';

import { SipClient } from 'livekit-server-sdk';

import { httpUrlOf, type MediaServer } from '../media-server.ts';
import { INBOUND_ROOM_PREFIX } from '../names.ts';
import { sipErrorOf, SipError } from './sip-error.ts';
import {
  inboundInfo,
  inboundSpec,
  metadataOf,
  outboundInfo,
  outboundSpec,
  ownerOf,
  roomConfiguration,
  ruleInfo,
  ruleSpec,
  type Ownership,
  type SipKind,
  type SipSpec,
} from './trunk-specs.ts';

/** A thing that is there. What it is like is kept as a digest alone: passwords belong to it. */
export interface SipThing extends Ownership {
  readonly kind: SipKind;
  readonly id: string;
  readonly digest: string;
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

/** Each throws {@link SipError}, and nothing else, within 5 s. */
export function createSipTrunks(server: Pick<MediaServer, 'url' | 'apiKey' | 'apiSecret' | 'agentName'>): SipTrunks {
  const { apiKey, apiSecret, agentName } = server;
  const client = new SipClient(httpUrlOf(server), apiKey, apiSecret, { requestTimeout: requestSeconds, failover: false });
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
            const { name, numbers, allowedAddresses, authUsername, authPassword } = inboundInfo(spec, metadata);
            const options = { metadata, allowedAddresses, authUsername, authPassword };
            const { sipTrunkId } = await client.createSipInboundTrunk(name, numbers, options);
            return thing(sipTrunkId, spec, owner);
          }
          case 'outbound': {
            const info = outboundInfo(spec, metadata);
            const { name, numbers, address, transport, destinationCountry, authUsername, authPassword } = info;
            const options = { metadata, transport, destinationCountry, authUsername, authPassword };
            const { sipTrunkId } = await client.createSipOutboundTrunk(name, address, numbers, options);
            return thing(sipTrunkId, spec, owner);
          }
          default: {
            const { sipDispatchRuleId } = await client.createSipDispatchRule(
              { type: 'individual', roomPrefix: INBOUND_ROOM_PREFIX },
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
          case 'inbound':
            await client.updateSipInboundTrunk(id, inboundInfo(spec, metadata));
            break;
          case 'outbound':
            await client.updateSipOutboundTrunk(id, outboundInfo(spec, metadata));
            break;
          default:
            await client.updateSipDispatchRule(id, ruleInfo(spec, { metadata, agentName }));
        }
        return thing(id, spec, owner);
      });
    },
    async remove({ kind, id }) {
      try {
        await asked(async () => (kind === 'rule' ? client.deleteSipDispatchRule(id) : client.deleteSipTrunk(id)));
      } catch (error) {
        if (!(error instanceof SipError && error.kind === 'gone')) throw error;
      }
    },
  };
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
    throw sipErrorOf(error, requestSeconds);
  }
}
