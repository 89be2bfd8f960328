import { describe, expect, it } from 'vitest';

import type { PhoneNumber } from '../../crds/index.ts';
import { storedObject } from '../../test/support/arbitrary-things.ts';
import { desiredTrunks, type TrunkSettings } from './desired-trunks.ts';

const nothing: TrunkSettings = { allowedAddresses: [] };
const number = '+15550100';
const wanted = (spec: object, settings: TrunkSettings = nothing, password?: string) =>
  desiredTrunks(storedObject('PhoneNumber', 'desk', { number, ...spec }) as PhoneNumber, settings, password);

describe('where calls to a number may come from', () => {
  it('is anybody who logs in, where the trunk has a login', () => {
    const sip = { terminationURI: '192.0.2.10', username: 'harbour' };
    const { inbound } = wanted({ type: 'SIP', sip }, { allowedAddresses: ['198.51.100.0/24'] }, 'secret');
    expect(inbound).toMatchObject({ addresses: [], login: { username: 'harbour', password: 'secret' } });
  });

  it('is what the deployment allows, and the trunk where that is an address, where it has none', () => {
    const settings = { allowedAddresses: ['198.51.100.0/24'] };
    expect(wanted({ type: 'SIP', sip: { terminationURI: '192.0.2.10:5080' } }, settings).inbound.addresses).toEqual([
      '198.51.100.0/24',
      '192.0.2.10',
    ]);
    expect(wanted({ type: 'SIP', sip: { terminationURI: 'sip:[2001:db8::1]:5060' } }, settings).inbound.addresses).toEqual([
      '198.51.100.0/24',
      '2001:db8::1',
    ]);
    expect(wanted({ type: 'SIP', sip: { terminationURI: 'sip.example.com' } }, settings).inbound.addresses).toEqual(['198.51.100.0/24']);
    expect(wanted({ type: 'SIP', sip: {} }).inbound.addresses).toEqual([]);
  });

  it('never asks callers for what the deployment itself logs in with', () => {
    const { inbound, outbound } = wanted(
      { type: 'Native' },
      { allowedAddresses: [], native: { uri: 'out.example.com', username: 'us', password: 'ours' } },
    );
    expect(inbound.login).toBeUndefined();
    expect(outbound?.login).toEqual({ username: 'us', password: 'ours' });
  });
});

describe('the region of a trunk', () => {
  it.each([
    ['global', ''],
    ['bd', 'BD'],
    ['bd_link3', 'BD'],
  ])('%s lets calls leave from %j', (region, country) =>
    expect(wanted({ type: 'SIP', sip: { terminationURI: 'sip.example.com', region } }).outbound?.country).toBe(country),
  );
});

describe('a rule', () => {
  it('is there for a number that somebody answers, and for its trunk alone', () => {
    expect(wanted({ type: 'SIP', sip: {} }).rule).toBeUndefined();
    expect(wanted({ type: 'SIP', sip: {}, inboundAgentRef: { name: 'a' } }).rule?.('ST_1')).toMatchObject({ kind: 'rule', trunk: 'ST_1' });
  });
});

describe('a way out', () => {
  it('is lacking only where somebody is to use it', () => {
    expect(wanted({ type: 'SIP', sip: {} }).lacking).toBeUndefined();
    expect(wanted({ type: 'SIP', sip: {}, outboundAgentRef: { name: 'a' } }).lacking).toContain('spec.sip.terminationURI');
    expect(wanted({ type: 'Carrier', outboundAgentRef: { name: 'a' } }).lacking).toContain('PARLEY_CARRIER_TERMINATION_URI');
    expect(wanted({ type: 'Native', outboundAgentRef: { name: 'a' } }).lacking).toContain('PARLEY_NATIVE_TERMINATION_URI');
  });

  it('of a carrier is used with the account of the number', () => {
    const { outbound } = wanted(
      { type: 'Carrier', carrier: { accountSID: 'AC1' } },
      { allowedAddresses: [], carrier: { uri: 'carrier.example.com' } },
      'token',
    );
    expect(outbound).toMatchObject({ address: 'carrier.example.com', login: { username: 'AC1', password: 'token' } });
  });
});
