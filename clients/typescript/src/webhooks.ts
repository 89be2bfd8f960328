/** Verifies that deliveries of webhooks come from Parley, and reads them. */
import { Webhook, WebhookVerificationError } from 'standardwebhooks';

export { WebhookVerificationError };

/** The envelope of every event. Events come more than once: drop a `traceId` that was seen. */
export interface WebhookEvent {
  readonly organizationId: string;
  /** The id of the event, `evt_…`; the same in the header `webhook-id`. */
  readonly traceId: string;
  /** Name such as `CallHandler.CallEnded`; new ones may be added. */
  readonly eventName: string;
  /** Time at which it happened, in seconds since 1970. */
  readonly timestamp: number;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Headers as `fetch`, or Node's `http`, has them. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * @param body the body as it came: JSON that was parsed and written again has other bytes, and another signature
 * @param secret the subscription's, `whsec_…`
 * @throws WebhookVerificationError when the signature is not of this secret, or the delivery is older than five minutes: answer 400
 */
export function verifyWebhook(body: string | Uint8Array, headers: WebhookHeaders, secret: string): WebhookEvent {
  const entries = headers instanceof Headers ? [...headers] : Object.entries(headers);
  const single = entries.flatMap(([name, value]) =>
    value === undefined ? [] : [[name, typeof value === 'string' ? value : value.join(',')]],
  );
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  return new Webhook(secret).verify(text, Object.fromEntries(single) as Record<string, string>) as WebhookEvent;
}
