/** Verifies deliveries as they arrive with the libraries that receivers use. */
import { Webhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { describe, expect, it } from 'vitest';

import { present, signedDeliveries } from './signed-deliveries.ts';

const { deliver, deliveries } = signedDeliveries();

const accepts = (verify: () => unknown): boolean => {
  try {
    verify();
    return true;
  } catch {
    return false;
  }
};

describe('verified with the libraries from npm', () => {
  it('standardwebhooks and svix accept what is signed with their key, and nothing else', async () => {
    const rows = await deliveries();
    expect(rows.filter(({ valid }) => valid)).toHaveLength(8);
    for (const { delivery, key, valid } of rows) {
      expect(accepts(() => new Webhook(key).verify(delivery.body, { ...delivery.headers }, { jsonParse: false }))).toBe(valid);
      expect(accepts(() => new SvixWebhook(key).verify(delivery.body, { ...delivery.headers }))).toBe(valid);
    }
  });

  it('what is unsigned is refused', async () => {
    const { headers, body } = await deliver('{}', {});
    expect(accepts(() => new Webhook(present).verify(body, { ...headers }))).toBe(false);
    expect(accepts(() => new SvixWebhook(present).verify(body, { ...headers }))).toBe(false);
  });
});
