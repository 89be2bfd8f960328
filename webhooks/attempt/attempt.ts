/** One attempt to deliver one event to one endpoint. */
import type { Credentials } from '../subscriptions/credentials.ts';
import type { Endpoint } from '../subscriptions/endpoint.ts';
import type { AttemptOutcome } from './outcome.ts';

export interface AttemptRequest {
  readonly endpoint: Pick<Endpoint, 'url' | 'timeoutMs'>;
  readonly credentials: Credentials;
  /** `evt_…`: constant over retries and replays. */
  readonly eventId: string;
  /** Sent and signed as it is. */
  readonly body: Uint8Array;
}

/** Never rejects: whatever happens is an outcome. */
export type Attempt = (request: AttemptRequest) => Promise<AttemptOutcome>;
