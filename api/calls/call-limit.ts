import { ApiError } from '../http/api-error.ts';

/** Seconds. When a call will end is unknown: this keeps a client that waits for it from asking without a pause. */
const RETRY_AFTER_SECONDS = 5;

/** The organisation has as many live calls as it may have. */
export function callLimitReached(): ApiError {
  return new ApiError(
    'concurrent_call_limit_reached',
    'your organisation has as many live calls as it may have: end one, or try again when one has ended',
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}
