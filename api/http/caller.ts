/** The caller of a request: resolved from the API key, and from nothing else in the request. */
export interface Caller {
  readonly keyId: string;
  /** The organisation's name, which is also the name of its namespace. */
  readonly org: string;
  readonly permissions: readonly string[];
  /** The user of the key, who is recorded as the creator of its objects. */
  readonly userId: string | null;
  readonly expiresAt: Date;
}

/** Stands for a secret in answers; a client sends it back for "unchanged". */
export const MASK = '********';

/**
 * Returns whether the key names the permission to read secrets. `*` doesn't include it: the key that is at hand for everything else
 * shouldn't be the one that spills secrets into terminals and logs. It can grant the permission, though.
 */
export function mayReadSecrets({ permissions }: Caller): boolean {
  return permissions.includes('secrets:read') || permissions.includes('secrets:write');
}
