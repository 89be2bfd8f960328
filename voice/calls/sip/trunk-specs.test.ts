import { SIPDispatchRuleInfo, SIPInboundTrunkInfo, SIPOutboundTrunkInfo } from 'livekit-server-sdk';
import { expect, it } from 'vitest';

import { inboundInfo, inboundSpec, metadataOf, outboundInfo, outboundSpec, ownerOf, ruleInfo, ruleSpec } from './trunk-specs.ts';

const owner = { uid: 'uid-1', number: '+4930123456' };
const metadata = metadataOf(owner);
const number = owner.number;
const login = { username: 'harbour', password: 'bikes' };

it('what a trunk was made of is read back as it was', () => {
  for (const given of [{}, { login }]) {
    const inbound = { kind: 'inbound', name: 'acme/main', number, addresses: ['192.0.2.0/24'], ...given } as const;
    const info = SIPInboundTrunkInfo.fromBinary(inboundInfo(inbound, metadata).toBinary());
    expect(inboundSpec(info)).toEqual(inbound);
    expect(ownerOf(info.metadata)).toEqual(owner);
  }
  for (const transport of ['auto', 'udp', 'tcp', 'tls'] as const) {
    const outbound = { kind: 'outbound', name: 'acme/main', number, address: 'sip.example:5070', transport, login, country: 'de' } as const;
    expect(outboundSpec(SIPOutboundTrunkInfo.fromBinary(outboundInfo(outbound, metadata).toBinary()))).toEqual(outbound);
  }
});

it('a rule is read back, unless it calls another agent or somebody has changed it', () => {
  const rule = { kind: 'rule', name: 'acme/main', trunk: 'ST_1' } as const;
  const info = ruleInfo(rule, { metadata, agentName: 'parley' });
  const there = (change: (read: SIPDispatchRuleInfo) => void = () => undefined): SIPDispatchRuleInfo => {
    const read = SIPDispatchRuleInfo.fromBinary(info.toBinary());
    change(read);
    return read;
  };
  expect(ruleSpec(there(), 'parley')).toEqual(rule);
  expect(ruleSpec(there(), 'another')).toBeUndefined();
  expect(
    ruleSpec(
      there((read) => void read.trunkIds.push('ST_2')),
      'parley',
    ),
  ).toBeUndefined();
  expect(
    ruleSpec(
      there((read) => void (read.roomConfig!.emptyTimeout = 1)),
      'parley',
    ),
  ).toBeUndefined();
});

it('what is not of Parley has no owner', () => {
  expect(['', 'hello', '{}', '{"parley.dev/phone-number":1,"number":"1"}', 'null'].map(ownerOf)).toEqual(Array(5).fill(undefined));
});
