/** Reports that Temporal did not answer in time, or refused. The workflow to start is written down elsewhere, and is started later. */
export class TemporalUnavailableError extends Error {
  override readonly name = 'TemporalUnavailableError';
}
