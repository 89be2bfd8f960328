/** Uploads, in the role, the recordings that its jobs could not upload. */
import type { Clock } from '../../platform/clock.ts';
import { every } from '../../platform/every.ts';
import type { Logger } from '../../platform/logging.ts';
import type { Recordings } from './recordings.ts';

const INTERVAL_MS = 10_000;
/** While the storage is away, in milliseconds. */
const LONGEST_INTERVAL_MS = 60_000;

export interface RecordingUploader {
  /** Stops after one more upload that takes `withinMs` at most: the next start uploads what is left. */
  close(options: { readonly withinMs: number }): Promise<void>;
}

export interface UploaderOptions {
  readonly recordings: Pick<Recordings, 'recover'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export function uploadRecordings({ recordings, clock, logger }: UploaderOptions): RecordingUploader {
  const stopping = new AbortController();
  const { signal } = stopping;
  const failure = 'failed to upload recordings from the spool; retrying';
  const uploading = every(
    { intervalMs: INTERVAL_MS, longestIntervalMs: LONGEST_INTERVAL_MS, clock, logger, failure, signal },
    async () => void (await recordings.recover(signal)),
  );
  return {
    async close({ withinMs }) {
      stopping.abort();
      await uploading;
      const last = AbortSignal.timeout(withinMs);
      await recordings.recover(last).catch((err: unknown) => {
        if (!last.aborted) logger.warn({ err }, 'failed to upload recordings from the spool; the next start retries');
      });
    },
  };
}
