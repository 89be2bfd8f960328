/** Failures of the media server's SIP API. */
import { TwirpError } from 'livekit-server-sdk';

export class SipError extends Error {
  override readonly name = 'SipError';
  /**
   * `refused`: the media server refuses the request; `login`: it refuses Parley's API key; `without_redis`: it cannot store trunks; `gone`: the
   * trunk or rule does not exist; `unavailable`: everything else, a retry may help.
   */
  readonly kind: 'refused' | 'login' | 'without_redis' | 'gone' | 'unavailable';

  constructor(kind: SipError['kind'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/** @param limitSeconds how long the request was given */
export function sipErrorOf(error: unknown, limitSeconds: number): SipError {
  const options = { cause: error };
  if (!(error instanceof TwirpError)) {
    const late = error instanceof Error && error.name === 'TimeoutError';
    return new SipError('unavailable', late ? `it has not answered within ${limitSeconds} s` : 'it cannot be reached', options);
  }
  switch (error.code) {
    case 'not_found':
      return new SipError('gone', error.message, options);
    case 'unauthenticated':
    case 'permission_denied':
      return new SipError('login', 'it refuses LIVEKIT_API_KEY with LIVEKIT_API_SECRET', options);
    case 'invalid_argument':
    case 'already_exists':
    case 'failed_precondition':
      return new SipError('refused', error.message, options);
    default:
      return /sip not connected/i.test(error.message)
        ? new SipError('without_redis', 'it runs without Redis', options)
        : new SipError('unavailable', `it fails (${error.code ?? error.status})`, options);
  }
}
