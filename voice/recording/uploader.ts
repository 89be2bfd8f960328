/** Uploads, in the role, the recordings that its jobs could not upload. */
import { sleep, type Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import type { Recordings } from './recordings.ts';

/** Between two looks at the spool, in milliseconds. */
const INTERVAL_MS = 10_000;
/** A storage that is away is asked less and less often, down to this, in milliseconds. */
const MAX_WAIT_MS = 60_000;

export interface RecordingUploader {
  /** Stops looking, after one more look that takes `withinMs` at most: what is left then is the next start's. */
  close(options: { readonly withinMs: number }): Promise<void>;
}

/** Looks at once, and then again and again. */
export function uploadRecordings({
  recordings,
  clock,
  logger,
}: {
  readonly recordings: Pick<Recordings, 'recover'>;
  readonly clock: Clock;
  readonly logger: Logger;
}): RecordingUploader {
  const stopping = new AbortController();
  const look = async (signal: AbortSignal): Promise<boolean> => {
    try {
      await recordings.recover(signal);
      return true;
    } catch (err) {
      if (!signal.aborted) logger.warn({ err }, 'failed to upload recordings from the spool; retrying');
      return false;
    }
  };
  const looking = (async () => {
    for (let failures = 0; !stopping.signal.aborted;) {
      failures = (await look(stopping.signal)) ? 0 : failures + 1;
      await sleep(clock, Math.min(INTERVAL_MS * 2 ** failures, MAX_WAIT_MS), stopping.signal).catch(() => undefined);
    }
  })();
  return {
    async close({ withinMs }) {
      stopping.abort();
      await looking;
      await look(AbortSignal.timeout(withinMs));
    },
  };
}
