/** Temporal did not answer in time, or refused. What was to be started is written down elsewhere, and is started later. */
export class TemporalUnavailableError extends Error {
  override readonly name = 'TemporalUnavailableError';
}
