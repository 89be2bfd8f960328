/** Reads, creates and changes the trunks and dispatch rules of the media server. */
import { createHmac, randomBytes } from 'node:crypto';

import { SIPDispatchRuleInfo, SIPInboundTrunkInfo, SipClient } from 'livekit-server-sdk';

import { httpUrlOf, type MediaServer } from '../media-server.ts';
import { INBOUND_ROOM_PREFIX } from '../names.ts';
import { sipErrorOf, SipError } from './sip-error.ts';
import { infoOf, likenessOf, metadataOf, parseOwnership, type Ownership, type SipInfo, type SipKind, type SipSpec } from './trunk-specs.ts';

/** A trunk or rule of the media server. It is kept as a digest: passwords belong to it. */
export interface SipThing extends Ownership {
  readonly kind: SipKind;
  readonly id: string;
  readonly digest: string;
}

export interface SipTrunks {
  /** Lists all trunks and rules that Parley made, of every PhoneNumber. */
  list(): Promise<readonly SipThing[]>;
  create(spec: SipSpec, owner: Ownership): Promise<SipThing>;
  /** Changes an existing trunk or rule, and its owner. */
  replace(id: string, spec: SipSpec, owner: Ownership): Promise<SipThing>;
  /** Removes a trunk or rule; succeeds for one that does not exist. */
  remove(thing: Pick<SipThing, 'kind' | 'id'>): Promise<void>;
  /** Returns the same digest for specs that are alike; it is keyed by process, so that it reveals nothing else. */
  digest(spec: SipSpec): string;
}

const REQUEST_SECONDS = 5;

/** Each method throws {@link SipError}, and nothing else, within 5 s. */
export function createSipTrunks(server: Pick<MediaServer, 'url' | 'apiKey' | 'apiSecret' | 'agentName'>): SipTrunks {
  const { apiKey, apiSecret, agentName } = server;
  const client = new SipClient(httpUrlOf(server), apiKey, apiSecret, { requestTimeout: REQUEST_SECONDS, failover: false });
  const key = randomBytes(32);
  const infoFor = (spec: SipSpec, owner?: Ownership): SipInfo => infoOf(spec, { metadata: owner ? metadataOf(owner) : '', agentName });
  const digestOf = (info: SipInfo): string =>
    createHmac('sha256', key)
      .update(JSON.stringify(likenessOf(info)))
      .digest('base64url');
  const found = (kind: SipKind, id: string, info: SipInfo): readonly SipThing[] => {
    const owner = parseOwnership(info.metadata);
    return owner === undefined ? [] : [{ ...owner, kind, id, digest: digestOf(info) }];
  };
  return {
    digest: (spec) => digestOf(infoFor(spec)),
    async list() {
      return asked(async () => {
        const [inbound, outbound, rules] = await Promise.all([
          client.listSipInboundTrunk(),
          client.listSipOutboundTrunk(),
          client.listSipDispatchRule(),
        ]);
        return [
          ...inbound.flatMap((info) => found('inbound', info.sipTrunkId, info)),
          ...outbound.flatMap((info) => found('outbound', info.sipTrunkId, info)),
          ...rules.flatMap((info) => found('rule', info.sipDispatchRuleId, info)),
        ];
      });
    },
    async create(spec, owner) {
      const info = infoFor(spec, owner);
      const { name, metadata } = info;
      const id = await asked(async () => {
        if (info instanceof SIPDispatchRuleInfo) {
          const { trunkIds, roomConfig } = info;
          const options = { name, metadata, trunkIds, ...(roomConfig && { roomConfig }) };
          return (await client.createSipDispatchRule({ type: 'individual', roomPrefix: INBOUND_ROOM_PREFIX }, options)).sipDispatchRuleId;
        }
        const { numbers, authUsername, authPassword } = info;
        const login = { authUsername, authPassword };
        if (info instanceof SIPInboundTrunkInfo) {
          const { allowedAddresses } = info;
          return (await client.createSipInboundTrunk(name, numbers, { metadata, allowedAddresses, ...login })).sipTrunkId;
        }
        const { address, transport, destinationCountry } = info;
        return (await client.createSipOutboundTrunk(name, address, numbers, { metadata, transport, destinationCountry, ...login }))
          .sipTrunkId;
      });
      return { ...owner, kind: spec.kind, id, digest: digestOf(info) };
    },
    async replace(id, spec, owner) {
      const info = infoFor(spec, owner);
      await asked(async (): Promise<unknown> => {
        if (info instanceof SIPInboundTrunkInfo) return client.updateSipInboundTrunk(id, info);
        return info instanceof SIPDispatchRuleInfo ? client.updateSipDispatchRule(id, info) : client.updateSipOutboundTrunk(id, info);
      });
      return { ...owner, kind: spec.kind, id, digest: digestOf(info) };
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

async function asked<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    throw sipErrorOf(error, REQUEST_SECONDS);
  }
}
