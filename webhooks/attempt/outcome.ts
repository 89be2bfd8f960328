/** What became of one attempt to deliver an event. */
import type { EgressErrorKind } from '../../platform/egress/egress-error.ts';

/** Why an attempt failed. Kept in the attempt rows and shown over REST: never renamed. */
export type FailureReason =
  /** Answered with a status that is no success. */
  | 'http_status'
  /** Answered with a redirect; none is followed. */
  | 'redirect'
  /** Answered 410: the endpoint wants no more events. */
  | 'gone'
  | Exclude<EgressErrorKind, NoFault | 'redirect' | 'too_large'>;

/** Faults of this installation: no fault of the endpoint. */
export type NoFault = 'dns_unavailable' | 'local' | 'closed';

interface Common {
  /** Milliseconds since the Unix epoch. */
  readonly startedAt: number;
  readonly durationMs: number;
}

export interface SuccessfulAttempt extends Common {
  readonly succeeded: true;
  readonly statusCode: number;
  /** What its owner should know all the same; mostly absent. */
  readonly message?: string;
}

export interface FailedAttempt extends Common {
  readonly succeeded: false;
  readonly ours: false;
  readonly reason: FailureReason;
  /** Absent where no answer came. */
  readonly statusCode?: number;
  /** For the owner of the subscription: names the host and the cure, never an address that was resolved, a header or a body. At most 1,024 characters. */
  readonly message: string;
  /** The endpoint asks not to be called again before, in milliseconds from the end of the attempt: at most an hour. */
  readonly retryAfterMs?: number;
}

/** The fault of this installation, not of the endpoint: neither counted nor recorded as an attempt. */
export interface NoAttempt extends Common {
  readonly succeeded: false;
  readonly ours: true;
  readonly reason: NoFault;
  readonly message: string;
}

export type AttemptOutcome = SuccessfulAttempt | FailedAttempt | NoAttempt;
