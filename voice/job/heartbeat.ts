/** Shows that a call has a live job: one without a heartbeat for 30 s is ended by the stale-call sweeper. */
import { sleep, type Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import type { CallRef, CallStore } from '../../store/index.ts';

const INTERVAL_MS = 8_000;

export interface HeartbeatOptions {
  readonly calls: Pick<CallStore['calls'], 'heartbeat'>;
  readonly call: CallRef;
  readonly jobId: string;
  readonly signal: AbortSignal;
  /** The call is over, or another job's. */
  readonly onLost: () => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Until the signal aborts, or the call is not this job's any more. */
export async function sendHeartbeats({ calls, call, jobId, signal, onLost, clock, logger }: HeartbeatOptions): Promise<void> {
  while (!signal.aborted) {
    try {
      if (!(await calls.heartbeat({ org: call.org, id: call.id, jobId })) && !signal.aborted) {
        onLost();
        return;
      }
    } catch (err) {
      // The call goes on while Postgres is away for a moment; for longer, the sweeper ends it.
      logger.warn({ err }, 'failed to send the heartbeat of the call; retrying');
    }
    await sleep(clock, INTERVAL_MS, signal).catch(() => undefined);
  }
}
