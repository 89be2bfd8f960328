/** How a provider's failure travels through LiveKit's sessions. */
import { APIError } from '@livekit/agents';

import { ProviderError } from '../calls/provider-access/index.ts';

/** LiveKit does not retry it: that is done where the provider is asked. */
class ProviderApiError extends APIError {
  readonly failure: ProviderError;

  constructor(failure: ProviderError) {
    super(failure.message, { retryable: false });
    this.name = 'ProviderApiError';
    this.failure = failure;
  }
}

/** @param error what was thrown; what is no failure of a provider stays as it is */
export const sessionErrorOf = (error: unknown): unknown => (error instanceof ProviderError ? new ProviderApiError(error) : error);
