import { expect, it } from 'vitest';

import { terminationOf } from './termination.ts';

it.each([
  ['sip.example.com', 'sip.example.com', 'auto'],
  ['sip:sip.example.com', 'sip.example.com', 'auto'],
  ['SIP:sip.example.com:5080', 'sip.example.com:5080', 'auto'],
  ['sips:sip.example.com', 'sip.example.com', 'tls'],
  ['sip:someone@sip.example.com;transport=TCP', 'sip.example.com', 'tcp'],
  ['192.0.2.10:5060;transport=udp;lr', '192.0.2.10:5060', 'udp'],
  ['sip:[2001:db8::1]:5061;transport=tls', '[2001:db8::1]:5061', 'tls'],
])('%s', (uri, address, transport) => expect(terminationOf(uri)).toEqual({ address, transport }));

it.each([
  'sip:example.com;maddr=127.0.0.1',
  'sip:example.com;x=@127.0.0.1',
  'sip:a@example.com@127.0.0.1',
  'sip:a>,<sip:b@example.com',
  'sip:example.com\r\nRoute: <sip:127.0.0.1>',
  'sip:example.com?Route=%3Csip:127.0.0.1%3E',
])('can be read in two ways: %j', (uri) => expect(terminationOf(uri)).toBeUndefined());

it.each(['', 'sip:', 'https://example.com', 'sip:example.com:0', 'sip:example.com:70000', 'sip:example.com;transport=pigeon', 'two hosts'])(
  'leads nowhere: %j',
  (uri) => expect(terminationOf(uri)).toBeUndefined(),
);
