/** Makes deliveries as they arrive, signed with each state of a Secret, for the libraries that receivers verify them with. */
import type { IncomingHttpHeaders } from 'node:http';

import { afterAll, expect } from 'vitest';

import { openEgress } from '../../support/open-egress.ts';
import { createAttempt } from '../../../webhooks/attempt/attempt.ts';
import { generateSigningKey } from '../../../webhooks/signing/signing-keys.ts';
import { keysAt, readSigningSecret } from '../../../webhooks/signing/signing-secret.ts';
import { Servers, whole } from '../../support/http-servers.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';

export interface SignedDelivery {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const flat = (headers: IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

export const [present, former, older, foreign] = [
  generateSigningKey(),
  generateSigningKey(),
  generateSigningKey(),
  generateSigningKey(),
] as const;
const TEXTS = [
  '{"eventName":"Webhook.Test","payload":{}}',
  // A parser would write this in another way.
  '{ "timestamp": 1795254915.0, "text": "caf\\u00e9 Grüße 🎉", "big": 12345678901234567890, "a": 1, "a": 2 }\n',
];
const ROTATED = { current: present, 'previous-1': former, 'previous-2': older };
const HOUR_MS = 3_600_000;
const EXPIRY = JSON.stringify({
  'previous-1': new Date(Date.now() + HOUR_MS).toISOString(),
  'previous-2': new Date(Date.now() - HOUR_MS).toISOString(),
});

/** Makes deliveries to a server of the suite. */
export function signedDeliveries() {
  const servers = new Servers();
  const arrived: SignedDelivery[] = [];
  const egress = suiteFixture(() => openEgress({ allowCidrs: ['127.0.0.0/8'] }));
  const server = suiteFixture(() =>
    servers.http(
      whole(({ headers }, response, body) => {
        arrived.push({ headers: flat(headers), body });
        response.end();
      }),
    ),
  );

  afterAll(() => servers.stop());

  /** Sends `text` signed with the keys of the Secret at `now`, and returns what arrived. */
  async function deliver(
    text: string,
    secret: Readonly<Record<string, string>>,
    expiry?: string,
    now = Date.now(),
  ): Promise<SignedDelivery> {
    const keys = keysAt(readSigningSecret((name) => secret[name], expiry) ?? [], now);
    const outcome = await createAttempt({ egress })({
      org: 'demo',
      endpoint: { url: `http://127.0.0.1:${server.port}/`, timeoutMs: 30_000 },
      credentials: { keys, headers: {} },
      eventId: 'evt_019aa0b1-7a3c-7d10-8000-5b1d4f6c2e99',
      body: Buffer.from(text),
    });
    expect(outcome.succeeded).toBe(true);
    const delivery = arrived.at(-1);
    if (delivery === undefined) throw new Error('nothing has arrived');
    return delivery;
  }

  /** Returns what is expected of each key: before the first rotation, during its grace period, and after it. */
  async function deliveries(): Promise<readonly { delivery: SignedDelivery; key: string; valid: boolean }[]> {
    const rows: { delivery: SignedDelivery; key: string; valid: boolean }[] = [];
    for (const text of TEXTS) {
      const states = [
        { delivery: await deliver(text, { current: former }), valid: [former] },
        { delivery: await deliver(text, ROTATED, EXPIRY), valid: [present, former] },
        { delivery: await deliver(text, ROTATED, EXPIRY, Date.now() + 2 * HOUR_MS), valid: [present] },
      ];
      for (const { delivery, valid } of states) {
        for (const key of [present, former, older, foreign]) rows.push({ delivery, key, valid: valid.includes(key) });
      }
      const { delivery } = states[0] ?? { delivery: await deliver(text, ROTATED) };
      rows.push({ delivery: { ...delivery, body: Buffer.concat([delivery.body, Buffer.from(' ')]) }, key: former, valid: false });
      rows.push({ delivery: { ...delivery, headers: { ...delivery.headers, 'webhook-id': 'evt_other' } }, key: former, valid: false });
    }
    return rows;
  }

  return { deliver, deliveries };
}
