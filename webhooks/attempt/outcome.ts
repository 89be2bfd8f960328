/** Outcomes of one attempt to deliver an event. */
import type { EgressErrorKind } from '../../platform/egress/egress-error.ts';

/** Reasons why an attempt failed. Attempt rows keep them and REST shows them: none is ever renamed. */
export type FailureReason =
  /** The endpoint answered with a status that is no success. */
  | 'http_status'
  /** The endpoint answered with a redirect; none is followed. */
  | 'redirect'
  /** The endpoint answered 410: it wants no more events. */
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
  /** A remark that the endpoint's owner should know all the same; mostly absent. */
  readonly message?: string;
}

export interface FailedAttempt extends Common {
  readonly succeeded: false;
  readonly ours: false;
  readonly reason: FailureReason;
  /** Absent where no answer came. */
  readonly statusCode?: number;
  /** Names the host and the cure for the subscription's owner, never a resolved address, a header or a body. At most 1,024 characters. */
  readonly message: string;
  /** Milliseconds from the end of the attempt for which the endpoint asks not to be called again: at most an hour. */
  readonly retryAfterMs?: number;
}

/** A fault of this installation, not of the endpoint: neither counted nor recorded as an attempt. */
export interface NoAttempt extends Common {
  readonly succeeded: false;
  readonly ours: true;
  readonly reason: NoFault;
  readonly message: string;
}

export type AttemptOutcome = SuccessfulAttempt | FailedAttempt | NoAttempt;
