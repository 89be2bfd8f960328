import type { EgressError } from '../platform/egress/egress-error.ts';

/** Why the model of a profile gave no answer. */
export type ModelFailure =
  /** No connection, 5xx, or an answer that broke off. */
  | 'unavailable'
  | 'rate_limited'
  | 'timeout'
  /** 401 or 403. */
  | 'unauthorized'
  /** The server says that the request is wrong. */
  | 'refused'
  | 'invalid_response'
  /** The profile, its credential or its model is missing or doesn't fit. */
  | 'misconfigured';

/** How a request to the model of a profile ended: a label of metrics. */
export type ModelOutcome = 'answered' | ModelFailure;

export function failureOfStatus(status: number): Extract<ModelFailure, 'unauthorized' | 'rate_limited' | 'unavailable' | 'refused'> {
  if (status === 401 || status === 403) return 'unauthorized';
  if (status === 429) return 'rate_limited';
  return status >= 500 || status === 408 || status === 425 ? 'unavailable' : 'refused';
}

export function failureOfEgress({ kind }: EgressError): ModelFailure {
  if (kind === 'timeout') return 'timeout';
  if (kind === 'too_large') return 'invalid_response';
  return kind.startsWith('forbidden') ? 'misconfigured' : 'unavailable';
}
