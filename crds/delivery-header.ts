/** Lists the headers that a subscriber may not add to deliveries, once for the resource, the facade and the delivery itself. */
import { connectionHeaders } from '../platform/egress/request.ts';

/** Names in lower case that HTTP or the delivery itself sets. */
export const reservedHeaders: readonly string[] = [...connectionHeaders, 'content-type', 'user-agent'];

/** Prefixes in lower case that no name may begin with. */
export const reservedHeaderPrefixes = ['proxy-', 'webhook-'] as const;

/** Completes a message that begins with the name of the header. */
export const reservedHeaderMessage = `is reserved: it can be none of ${reservedHeaders.join(', ')}, nor begin with ${reservedHeaderPrefixes.join(' or ')}`;

const names: ReadonlySet<string> = new Set(reservedHeaders);

/** Ignores the case in which the name is written. */
export function isReservedHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return names.has(lower) || reservedHeaderPrefixes.some((prefix) => lower.startsWith(prefix));
}
