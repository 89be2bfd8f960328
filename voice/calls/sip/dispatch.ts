/** What the media server is told to do with a call that comes in by phone. */

/** Told to the job, and nothing else: whose number it is stands in Postgres. Participants can read it. */
export const INBOUND_DISPATCH_METADATA = JSON.stringify({ phone: 'inbound' });

/** Rooms of calls that come in are named by the gateway: this, then the number of the caller and something random. */
export const INBOUND_ROOM_PREFIX = 'call-';

/** Whether a job is for a call that came in by phone, and that nobody has written down yet. */
export function isInboundDispatch(metadata: string): boolean {
  return metadata === INBOUND_DISPATCH_METADATA;
}
