/** What waits for longer than a moment is handed over to a workflow. */

export interface Retry {
  /** uuid */
  readonly deliveryId: string;
  readonly org: string;
  /** uuid */
  readonly eventId: string;
  readonly subscriptionUid: string;
  /** Attempts before the present series: what is left of the workflow of a former series makes way. */
  readonly seriesStart: number;
  /** How long the first attempt of the workflow waits, in milliseconds. */
  readonly delayMs: number;
}

/** Starts the workflow that makes the remaining attempts of a delivery. */
export interface RetryStarter {
  /**
   * Idempotent: a workflow of this series that runs already is left running.
   *
   * @throws RetriesUnavailable when nobody answers in time: the row says what is to be done, and a sweep starts it later
   */
  start(retry: Retry): Promise<void>;
  close(): Promise<void>;
}

/** Temporal doesn't answer. Nothing is lost by that: the delivery waits in Postgres. */
export class RetriesUnavailable extends Error {
  override readonly name = 'RetriesUnavailable';
}
