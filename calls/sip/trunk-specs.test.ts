import { SIPDispatchRuleInfo, SIPInboundTrunkInfo, SIPOutboundTrunkInfo } from 'livekit-server-sdk';
import { describe, expect, it } from 'vitest';

import { infoOf, likenessOf, metadataOf, parseOwnership, type SipInfo, type SipSpec } from './trunk-specs.ts';

const owner = { uid: 'uid-1', number: '+4930123456', deletionPolicy: 'Delete' } as const;
const dispatch = { metadata: metadataOf(owner), agentName: 'parley' };
const login = { username: 'harbour', password: 'bikes' };

const inbound = { kind: 'inbound', name: 'acme/main', number: owner.number, addresses: ['192.0.2.0/24'], login } as const;
const outbound = {
  kind: 'outbound',
  name: 'acme/main',
  number: owner.number,
  address: 'sip.example:5070',
  transport: 'udp',
  login,
  country: 'de',
} as const;
const rule = { kind: 'rule', name: 'acme/main', trunk: 'ST_1' } as const;

/** Returns the spec as the media server keeps it. */
function stored(spec: SipSpec, agentName = 'parley'): SipInfo {
  const info = infoOf(spec, { ...dispatch, agentName });
  const type = { inbound: SIPInboundTrunkInfo, outbound: SIPOutboundTrunkInfo, rule: SIPDispatchRuleInfo }[spec.kind];
  return type.fromBinary(info.toBinary());
}

describe('what the media server keeps', () => {
  it.each<SipSpec>([inbound, outbound, rule])('is like what it was made of: $kind', (spec) => {
    expect(likenessOf(stored(spec))).toEqual(likenessOf(infoOf(spec, { ...dispatch, metadata: '' })));
    expect(parseOwnership(stored(spec).metadata)).toEqual(owner);
  });

  it('is different from anything else', () => {
    const specs: readonly SipSpec[] = [
      ...[inbound, outbound].flatMap((spec): SipSpec[] => [spec, { ...spec, name: 'acme/other' }, { ...spec, number: '+49301' }]),
      ...[inbound, outbound].flatMap((spec): SipSpec[] => [
        { ...spec, login: { ...login, username: 'x' } },
        { ...spec, login: { ...login, password: 'x' } },
      ]),
      { ...inbound, addresses: [] },
      { ...outbound, transport: 'auto' },
      { ...outbound, transport: 'tls' },
      { ...outbound, address: 'sip.example' },
      { ...outbound, country: '' },
      rule,
      { ...rule, trunk: 'ST_2' },
    ];
    const infos = [...specs.map((spec) => stored(spec)), stored(rule, 'another')];
    const changed = stored(rule) as SIPDispatchRuleInfo;
    changed.roomConfig!.emptyTimeout = 1;
    const pinned = stored(rule) as SIPDispatchRuleInfo;
    if (pinned.rule?.rule.case === 'dispatchRuleIndividual') pinned.rule.rule.value.pin = '1234';
    const narrowed = stored(inbound) as SIPInboundTrunkInfo;
    narrowed.allowedNumbers.push('+1555');
    const all = [...infos, changed, pinned, narrowed].map((info) => JSON.stringify(likenessOf(info)));
    expect(new Set(all).size).toBe(all.length);
  });
});

it('what is not of Parley has no owner', () => {
  expect(['', 'hello', '{}', '{"parley.dev/phone-number":1,"number":"1"}', 'null'].map(parseOwnership)).toEqual(Array(5).fill(undefined));
});
