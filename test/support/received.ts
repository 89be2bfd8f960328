/** Answer of the receiver of the local stack, and of the node, to `GET /`. */
import type { SeenDelivery } from '../../cli/webhooks/receiver.ts';

export interface SeenDeliveries {
  readonly data: readonly SeenDelivery[];
}

/** @throws Error with the deliveries that came instead, until the event has come with the signature of a subscription */
export function requireVerified({ data }: SeenDeliveries, eventId: string): void {
  const came = data.filter(({ webhook_id: id }) => id === eventId);
  if (came.some(({ verdict }) => verdict === 'verified')) return;
  const instead = came.map(({ verdict, why }) => (why === undefined ? verdict : `${verdict}: ${why}`));
  throw new Error(`no verified delivery of ${eventId} among ${data.length}${instead.length === 0 ? '' : `, but ${instead.join(', ')}`}`);
}
