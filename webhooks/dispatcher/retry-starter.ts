/** What waits for longer than a moment is handed over to a workflow. */

export interface Retry {
  /** uuid */
  readonly deliveryId: string;
  readonly org: string;
  /** uuid */
  readonly eventId: string;
  readonly subscriptionUid: string;
  /** A workflow was begun for it and has not been heard of. Otherwise none has it: what there may still be of an earlier one makes way. */
  readonly lost: boolean;
  /** Of the event, where it is at hand. */
  readonly traceparent?: string | undefined;
  /** How long the first attempt of the workflow waits, in milliseconds. */
  readonly delayMs: number;
}

/** Starts the workflow that makes the remaining attempts of a delivery. */
export interface RetryStarter {
  /**
   * May be repeated: the row decides who may attempt, so that at worst a workflow is begun anew.
   *
   * @throws TemporalUnavailableError when Temporal does not answer in time: the row says what is to be done, and a sweep starts it later
   */
  start(retry: Retry): Promise<void>;
  close(): Promise<void>;
}
