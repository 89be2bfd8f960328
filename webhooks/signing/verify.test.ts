import { expect, it } from 'vitest';

import { sign } from './sign.ts';
import { generateSigningKey, parseSigningKey } from './signing-keys.ts';
import { verify } from './verify.ts';

const now = Date.parse('2026-01-31T12:00:00.900Z');
const timestamp = Math.floor(now / 1000);
const body = Buffer.from('{"eventName":"Webhook.Test"}');
const [key, other, third] = [generateSigningKey(), generateSigningKey(), generateSigningKey()].map((text) => parseSigningKey(text)!) as [
  NonNullable<ReturnType<typeof parseSigningKey>>,
  NonNullable<ReturnType<typeof parseSigningKey>>,
  NonNullable<ReturnType<typeof parseSigningKey>>,
];
const headers = (signature?: string, at: number | string = timestamp): Record<string, string> => ({
  'webhook-id': 'evt_1',
  'webhook-timestamp': String(at),
  ...(signature === undefined ? {} : { 'webhook-signature': signature }),
});
const signed = sign([key], { id: 'evt_1', timestamp, body });

it('takes what any known key has signed, whichever of several signatures it is', () => {
  expect(verify({ headers: headers(signed), body, keys: [other, key], now })).toEqual({ verdict: 'verified', key });
  const rotating = sign([other, key], { id: 'evt_1', timestamp, body });
  expect(verify({ headers: headers(rotating), body, keys: [key], now })).toEqual({ verdict: 'verified', key });
  expect(verify({ headers: headers(`v1a,AAAA v2,BBBB ${signed}`), body, keys: [key], now })).toMatchObject({ verdict: 'verified' });
});

it('meets the vector of the standard', () => {
  const vector = {
    headers: {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
    body: Buffer.from('{"test": 2432232314}'),
    keys: [parseSigningKey('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')!],
    now: 1_614_265_330_000,
  };
  expect(verify(vector).verdict).toBe('verified');
});

it('refuses another body, id, time or key', () => {
  const changed = Buffer.from('{"eventName":"Webhook.Tess"}');
  expect(verify({ headers: headers(signed), body: changed, keys: [key], now }).verdict).toBe('refused');
  expect(verify({ headers: { ...headers(signed), 'webhook-id': 'evt_2' }, body, keys: [key], now }).verdict).toBe('refused');
  expect(verify({ headers: headers(signed, timestamp + 1), body, keys: [key], now }).verdict).toBe('refused');
  expect(verify({ headers: headers(signed), body, keys: [other, third], now }).verdict).toBe('refused');
  expect(verify({ headers: headers(''), body, keys: [key], now }).verdict).toBe('refused');
  expect(verify({ headers: headers(signed.slice(0, -1)), body, keys: [key], now }).verdict).toBe('refused');
});

it('refuses what was sent long ago, or has no id or time', () => {
  for (const at of [timestamp - 301, timestamp + 302]) {
    const late = sign([key], { id: 'evt_1', timestamp: at, body });
    expect(verify({ headers: headers(late, at), body, keys: [key], now })).toMatchObject({
      why: expect.stringContaining('5 minutes') as string,
    });
  }
  expect(verify({ headers: headers(signed, 'soon'), body, keys: [key], now }).verdict).toBe('refused');
  expect(verify({ headers: { 'webhook-signature': signed }, body, keys: [key], now }).verdict).toBe('refused');
});

it('distinguishes what is not signed from what is signed wrongly', () => {
  expect(verify({ headers: headers(), body, keys: [key], now })).toEqual({ verdict: 'unsigned' });
});
