import { ParticipantKind } from '@livekit/rtc-node';
import { expect, it } from 'vitest';

import { sipParticipantOf } from './sip-participant.ts';

const attributes = {
  'sip.trunkPhoneNumber': '+15550100',
  'sip.phoneNumber': '+15550199',
  'sip.callIDFull': 'full@host',
  'sip.callID': 'SCL_1',
};
const participant = { identity: 'sip_+15550199', kind: ParticipantKind.SIP, attributes };

it('says who calls whom', () => {
  expect(sipParticipantOf(participant)).toEqual({
    identity: 'sip_+15550199',
    sipCallId: 'full@host',
    ownNumber: '+15550100',
    otherNumber: '+15550199',
  });
});

it.each([
  ['15550100', '+15550100'],
  ['0015550100', '+15550100'],
  ['+1 (555) 01-00', '+15550100'],
])('our number may be written %s', (number, expected) => {
  expect(sipParticipantOf({ ...participant, attributes: { ...attributes, 'sip.trunkPhoneNumber': number } })?.ownNumber).toBe(expected);
});

it.each(['anonymous', '', 'sip:someone@example.com'])('a caller may hide, or have no number: %j', (other) => {
  expect(sipParticipantOf({ ...participant, attributes: { ...attributes, 'sip.phoneNumber': other } })?.otherNumber).toBe(other);
});

it("takes the media server's own id where the gateway gives no other", () => {
  const { 'sip.callIDFull': _full, ...rest } = attributes;
  expect(sipParticipantOf({ ...participant, attributes: rest })?.sipCallId).toBe('SCL_1');
});

it('is nothing for a browser, or for a phone without a called number', () => {
  expect(sipParticipantOf({ ...participant, kind: ParticipantKind.STANDARD })).toBeUndefined();
  expect(sipParticipantOf({ ...participant, attributes: { ...attributes, 'sip.trunkPhoneNumber': 'reception' } })).toBeUndefined();
  expect(sipParticipantOf({ ...participant, attributes: { 'sip.trunkPhoneNumber': '+15550100' } })).toBeUndefined();
});
