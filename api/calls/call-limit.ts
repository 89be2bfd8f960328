import type { UnjoinedLimit } from '../../store/index.ts';
import { ApiError } from '../http/api-error.ts';

/** Retry-After, in seconds. The end of a call is unknown: this keeps a client that waits for it from asking without a pause. */
const RETRY_AFTER_SECONDS = 5;

/** Makes the refusal of an organisation that has as many live calls as it may have. */
export function callLimitReached(): ApiError {
  return new ApiError(
    'concurrent_call_limit_reached',
    'your organisation has as many live calls as it may have: end one, or try again when one has ended',
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}

/** Makes the refusal of a web call while too many others wait for users who haven't joined: each holds a place of a voice process. */
export function unjoinedLimitReached({ of, most }: UnjoinedLimit): ApiError {
  const whose = of === 'key' ? 'this API key' : 'your organisation';
  return new ApiError(
    'concurrent_call_limit_reached',
    `${most} web calls of ${whose} wait for their users, and no more may: join or end one, or try again when one has ended by itself. ` +
      'The limit follows that of live calls (PARLEY_UNJOINED_CALLS_PERCENT)',
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}
