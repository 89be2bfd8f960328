/** A failure as LiveKit's streams take one: they look at whether another attempt makes sense, and carry it to the session. */
import { APIError } from '@livekit/agents';

import type { ProviderFailure, ProviderFailureKind } from '../calls/providers/index.ts';

/** What the next attempt may well not meet again. */
const passing: ReadonlySet<ProviderFailureKind> = new Set(['connection_lost', 'runtime', 'unreachable', 'payload']);

export class ProviderApiError extends APIError {
  readonly failure: ProviderFailure;

  /** @param options.retryable false where something has been said or heard already */
  constructor(failure: ProviderFailure, { retryable = true }: { readonly retryable?: boolean } = {}) {
    super(failure.message, { retryable: retryable && !failure.slow && passing.has(failure.kind) });
    this.name = 'ProviderApiError';
    this.failure = failure;
  }
}
