/** Reads changing state repeatedly, and endures an api that is being replaced. */
import type { Clock } from '../../platform/clock.ts';
import { UserError } from '../../platform/user-error.ts';
import { RestError } from './rest-client.ts';

/** Time without a successful reading after which it is a failure, in milliseconds. */
const UNREADABLE_FOR_MS = 60_000;

/** Makes a function that reads, or returns undefined after a failure that may pass. @throws UserError for a refusal, or after a minute */
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

/** Returns whether the same request would be refused again. */
function isRefusal(error: UserError): boolean {
  return error instanceof RestError && error.status < 500 && error.status !== 429;
}
