import { createHmac } from 'node:crypto';

import { expect, it } from 'vitest';

import { sign } from './sign.ts';
import { parseSigningKey, type SigningKey } from './signing-keys.ts';

const keyOf = (text: string): SigningKey => {
  const key = parseSigningKey(text);
  if (key === undefined) throw new Error('that is no key');
  return key;
};

it.each([
  {
    key: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestamp: 1614265330,
    body: '{"test": 2432232314}',
    signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  },
  {
    key: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
    id: 'msg_27UH4WbU6Z5A5EzD8u03UvzRbpk',
    timestamp: 1649367553,
    body: '{"email":"test@example.com","username":"test_user"}',
    signature: 'v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=',
  },
])('signs $id as Standard Webhooks does', ({ key, id, timestamp, body, signature }) => {
  expect(sign([keyOf(key)], { id, timestamp, body: Buffer.from(body) })).toBe(signature);
});

it('signs with every key, in their order', () => {
  const message = { id: 'evt_1', timestamp: 1, body: Buffer.from('{}') };
  const [first, second] = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'].map(keyOf) as [
    SigningKey,
    SigningKey,
  ];
  expect(sign([second, first], message)).toBe(`${sign([second], message)} ${sign([first], message)}`);
});

it('signs bytes as they are, also what is no UTF-8', () => {
  const body = Buffer.from([0xff, 0x00, 0xc3, 0x28, 0x0a]);
  const secret = Buffer.alloc(24, 7);
  const expected = createHmac('sha256', secret)
    .update(Buffer.concat([Buffer.from('evt_1.5.'), body]))
    .digest('base64');
  expect(sign([keyOf(`whsec_${secret.toString('base64')}`)], { id: 'evt_1', timestamp: 5, body })).toBe(`v1,${expected}`);
});
