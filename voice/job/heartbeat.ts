/** Shows that a call has a live job: one without a heartbeat for 30 s is ended by the stale-call sweeper. */
import type { Clock } from '../../platform/clock.ts';
import { every } from '../../platform/every.ts';
import type { Logger } from '../../platform/logging.ts';
import type { CallRef, CallStore } from '../../store/index.ts';

const INTERVAL_MS = 8_000;

export interface HeartbeatOptions {
  readonly calls: Pick<CallStore['calls'], 'heartbeat'>;
  readonly call: CallRef;
  readonly jobId: string;
  readonly signal: AbortSignal;
  /** Called when the call is over, or another job's. */
  readonly onLost: () => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Sends heartbeats until the signal aborts, or the call is not this job's any more. While Postgres is away the call goes on; after 30 s
 * the sweeper ends it.
 */
export function sendHeartbeats({ calls, call: { org, id }, jobId, onLost, ...loop }: HeartbeatOptions): Promise<void> {
  const failure = 'failed to send the heartbeat of the call; retrying';
  return every({ ...loop, intervalMs: INTERVAL_MS, failure }, async () => {
    if ((await calls.heartbeat({ org, id, jobId })) || loop.signal.aborted) return undefined;
    onLost();
    return 'stop';
  });
}
