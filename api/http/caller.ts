/** Who asks: resolved from the API key, and from nothing else in the request. */
export interface Caller {
  readonly keyId: string;
  /** The organisation: also the name of its namespace. */
  readonly org: string;
  readonly permissions: readonly string[];
  /** The user of the key: recorded as the creator of its objects. */
  readonly userId: string | null;
  /** When the key ends. */
  readonly expiresAt: Date;
}

/** Stands for a secret in answers, and sent back for "unchanged". */
export const MASK = '********';

/**
 * Secrets are shown to keys that name the permission. `*` doesn't: the key that is at hand for everything else
 * shouldn't be the one that spills secrets into terminals and logs. It can grant the permission, though.
 */
export function mayReadSecrets({ permissions }: Caller): boolean {
  return permissions.includes('secrets:read') || permissions.includes('secrets:write');
}
