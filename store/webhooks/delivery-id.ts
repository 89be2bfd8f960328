/** Derives the ids of deliveries from event and subscription. */
import { createHash } from 'node:crypto';

/**
 * Returns the id of the delivery of an event to a subscription: a UUIDv8 that begins with the event's time, so that it is in the same
 * partition. Every process computes the same one. Source: RFC 9562, section 5.8.
 */
export function deliveryIdOf(eventId: string, subscriptionUid: string): string {
  const event = Buffer.from(eventId.replaceAll('-', ''), 'hex');
  const id = createHash('sha256').update(event).update(subscriptionUid).digest().subarray(0, 16);
  event.copy(id, 0, 0, 6);
  id.writeUInt8((id.readUInt8(6) & 0x0f) | 0x80, 6);
  id.writeUInt8((id.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = id.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
