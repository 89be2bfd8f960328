/** Which headers a subscriber may add to deliveries. One list for the resource, the facade and the delivery itself. */
import { connectionHeaders } from '../platform/egress/request.ts';

/** Lower case: HTTP or the delivery itself sets them. */
export const reservedHeaders: readonly string[] = [...connectionHeaders, 'content-type', 'user-agent'];

/** Lower case: nor may a name begin with one of these. */
export const reservedHeaderPrefixes = ['proxy-', 'webhook-'] as const;

/** Behind the name of the header. */
export const reservedHeaderMessage = `is reserved: it can be none of ${reservedHeaders.join(', ')}, nor begin with ${reservedHeaderPrefixes.join(' or ')}`;

const names: ReadonlySet<string> = new Set(reservedHeaders);

/** In whatever case the name is written. */
export function isReservedHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return names.has(lower) || reservedHeaderPrefixes.some((prefix) => lower.startsWith(prefix));
}
