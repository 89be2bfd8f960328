/** Reads the keys of a subscription from its Secret. Pure. */
import { parseSigningKey, type SigningKey } from './signing-keys.ts';

export const CURRENT_KEY_NAME = 'current';

/** Former keys that sign along, newest first. */
export const previousKeyNames = ['previous-1', 'previous-2', 'previous-3', 'previous-4'] as const;

export interface DatedKey {
  readonly key: SigningKey;
  /** Time until which the key signs, in milliseconds since the Unix epoch; absent: until it is taken out of the Secret. */
  readonly until?: number;
}

/**
 * @param value the text under a key of the Secret, undefined for a missing key
 * @param expiry the annotation {@link wellKnown.signingExpiry}: JSON, an RFC 3339 instant by the name of a former key
 * @returns newest first; undefined where the current key is missing or none. A former key that cannot be read signs nothing, and is no error
 */
export function readSigningSecret(
  value: (keyName: string) => string | undefined,
  expiry: string | undefined,
): readonly DatedKey[] | undefined {
  const current = parseSigningKey(value(CURRENT_KEY_NAME) ?? '');
  if (current === undefined) return undefined;
  const dates = readExpiry(expiry);
  const former = previousKeyNames.flatMap((name): DatedKey[] => {
    const key = parseSigningKey(value(name) ?? '');
    if (key === undefined) return [];
    const until = Date.parse(dates[name] ?? '');
    return [{ key, ...(Number.isNaN(until) ? {} : { until }) }];
  });
  return [{ key: current }, ...former];
}

/** The instants of the annotation by key. An unreadable one is ignored: a typo must not end a key that is still in use. */
export function readExpiry(expiry: string | undefined): Readonly<Record<string, string | undefined>> {
  try {
    const dates: unknown = JSON.parse(expiry ?? '{}');
    const entries = typeof dates === 'object' && dates !== null ? Object.entries(dates) : [];
    return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
  } catch {
    return {};
  }
}

/** Returns the keys that sign at `now`, in milliseconds since the Unix epoch. */
export function keysAt(keys: readonly DatedKey[], now: number): readonly SigningKey[] {
  return keys.filter(({ until }) => until === undefined || until > now).map(({ key }) => key);
}
