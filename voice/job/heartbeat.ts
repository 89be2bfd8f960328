/** Tells that a call has a job: one that is silent for 30 s is ended. */
import { sleep, type Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import type { CallRef, CallStore } from '../../store/index.ts';

/** In milliseconds. */
const everyMs = 8_000;

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
export async function beat({ calls, call, jobId, signal, onLost, clock, logger }: HeartbeatOptions): Promise<void> {
  while (!signal.aborted) {
    try {
      if (!(await calls.heartbeat({ org: call.org, id: call.id, jobId })) && !signal.aborted) {
        onLost();
        return;
      }
    } catch (err) {
      // The call goes on while Postgres is away for a moment; for longer, the reaper decides.
      logger.warn({ err }, 'nobody could be told that the call goes on');
    }
    await sleep(clock, everyMs, signal).catch(() => undefined);
  }
}
