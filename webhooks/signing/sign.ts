/** Signs by Standard Webhooks 1.0.0, over the very bytes that are sent. */
import { createHmac } from 'node:crypto';

import type { SigningKey } from './signing-keys.ts';

/**
 * @param message.id goes out as `webhook-id`; holds no dot, which would make the signed text ambiguous
 * @param message.timestamp in Unix seconds, goes out as `webhook-timestamp`
 * @returns the value of `webhook-signature`: one signature for each key, in their order
 */
export function sign(
  keys: readonly SigningKey[],
  message: { readonly id: string; readonly timestamp: number; readonly body: Uint8Array },
): string {
  const head = `${message.id}.${message.timestamp}.`;
  return keys.map((key) => `v1,${createHmac('sha256', key).update(head).update(message.body).digest('base64')}`).join(' ');
}
