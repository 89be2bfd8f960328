/** The body of every delivery of an event: made once, then signed and sent as it is. */

/** Writes an event's id as it reads outside the database. Standard Webhooks wants ids without dots. */
export function eventIdOf(uuid: string): string {
  return `evt_${uuid}`;
}

/** Writes a delivery's id as it reads outside the database. */
export function deliveryIdText(uuid: string): string {
  return `dlv_${uuid}`;
}

export interface Envelope {
  readonly organizationId: string;
  /** The event's id: the same over retries and replays, and the same as the header `webhook-id`. */
  readonly traceId: string;
  readonly eventName: string;
  /** Seconds since the epoch. */
  readonly timestamp: number;
  readonly payload: unknown;
}

export function envelopeBytes(event: {
  readonly id: string;
  readonly org: string;
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly payload: unknown;
}): Uint8Array {
  const envelope: Envelope = {
    organizationId: event.org,
    traceId: eventIdOf(event.id),
    eventName: event.name,
    timestamp: event.at / 1000,
    payload: event.payload,
  };
  return Buffer.from(JSON.stringify(envelope));
}
