/** Reading what changes with time, past an api that is being replaced. */
import type { Clock } from '../../platform/clock.ts';
import { UserError } from '../../platform/user-error.ts';
import { RestError } from './rest-client.ts';

/** How long nothing can be read before that is a failure, in milliseconds. */
const UNREADABLE_FOR_MS = 60_000;

/** @returns reads; undefined where it failed and may succeed the next time. @throws UserError for a refusal, and once it has failed for a minute */
export function patiently(clock: Clock): <T>(read: () => Promise<T>) => Promise<T | undefined> {
  let failingSince: number | undefined;
  return async (read) => {
    try {
      const found = await read();
      failingSince = undefined;
      return found;
    } catch (error) {
      if (!(error instanceof UserError) || isRefusal(error)) throw error;
      failingSince ??= clock.monotonic();
      if (clock.monotonic() - failingSince >= UNREADABLE_FOR_MS) throw error;
      return undefined;
    }
  };
}

/** The answer won't be another one later. */
function isRefusal(error: UserError): boolean {
  return error instanceof RestError && error.status < 500 && error.status !== 429;
}
