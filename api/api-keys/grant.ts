/** Decides what a key may give to a key that it makes, and which keys it may revoke: nothing beyond its own permissions and end. */
import { DAY_MS } from '../../platform/time.ts';
import { covers, type ApiKeyRecord, type Permission } from '../../store/index.ts';
import { ApiError, ValidationError } from '../http/api-error.ts';
import type { Caller } from '../http/caller.ts';
import { issues } from '../validation/issue.ts';

/** Days until a key ends whose request doesn't say. */
export const DEFAULT_EXPIRATION_DAYS = 30;

/** @throws ApiError `forbidden` where the caller lacks one of the permissions */
export function requireGrantable(caller: Pick<Caller, 'permissions'>, wanted: readonly Permission[]): void {
  const beyond = beyondOf(caller, wanted);
  if (beyond.length > 0) throw new ApiError('forbidden', `a key can grant only what it holds, and this one lacks ${beyond.join(', ')}`);
}

/**
 * Returns in how many days a new key ends. A day that has begun counts whole: the key ends with its maker at the latest.
 * @param days the requested number; undefined for {@link DEFAULT_EXPIRATION_DAYS}, or as many as there are
 * @throws ValidationError where the key would outlive its maker
 */
export function expirationDaysOf({ expiresAt }: Pick<Caller, 'expiresAt'>, days: number | undefined, now: number): number {
  const most = Math.max(1, Math.ceil((expiresAt.getTime() - now) / DAY_MS));
  if (days === undefined) return Math.min(DEFAULT_EXPIRATION_DAYS, most);
  if (days <= most) return days;
  throw new ValidationError([
    issues.value(
      ['body', 'expiration_days'],
      `a key can't outlive the key that makes it, which ends at ${expiresAt.toISOString()}: ask for ${most} at most`,
    ),
  ]);
}

/** @throws ApiError `forbidden` for a key that may do more than the caller */
export function requireRevocable(caller: Pick<Caller, 'permissions'>, { permissions }: Pick<ApiKeyRecord, 'permissions'>): void {
  const beyond = beyondOf(caller, permissions);
  if (beyond.length > 0)
    throw new ApiError('forbidden', `a key can revoke only what may do no more than itself, and this one lacks ${beyond.join(', ')}`);
}

function beyondOf({ permissions }: Pick<Caller, 'permissions'>, wanted: readonly string[]): readonly string[] {
  // Only `*` covers permissions that a newer version has introduced.
  return wanted.filter((permission) => !covers(permissions, permission as Permission));
}
