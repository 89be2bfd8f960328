import { covers } from '../../store/index.ts';

/** Who asks: resolved from the API key, and from nothing else in the request. */
export interface Caller {
  readonly keyId: string;
  /** The organisation: also the name of its namespace. */
  readonly org: string;
  readonly permissions: readonly string[];
  readonly createdByUserId: string | null;
}

/** Stands for a secret in answers, and sent back for "unchanged". */
export const mask = '********';

export function mayReadSecrets(caller: Caller): boolean {
  return covers(caller.permissions, 'secrets:read');
}
