/**
 * Finds calls whose agent has gone from their room. A killed job reports nothing; the media server notices. Its event is a hint to check:
 * the call ends only if its agent is not in the room now, and its job has sent no heartbeat for longer than a job ever waits.
 */
import type { CallLifecycle } from '../../calls/lifecycle.ts';
import type { Rooms } from '../../calls/rooms.ts';
import { sleep, type Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { isTerminal, type CallRecord, type CallStore } from '../../store/index.ts';

/** Silence after which a job that isn't in the room either has gone, in milliseconds: a job sends a heartbeat every 8 s. */
const SILENT_MS = 12_000;
/** Most checks of one call; each waits until the job's silence would be long enough. */
const MOST_LOOKS = 5;
/** Most calls that are watched at a time. The stale-call sweeper takes care of the others. */
const MOST_SUSPECTS = 1_000;

export interface LostJobsOptions {
  readonly calls: Pick<CallStore['calls'], 'ofRoom' | 'get'>;
  readonly lifecycle: Pick<CallLifecycle, 'end'>;
  readonly rooms: Pick<Rooms, 'hasAgent' | 'close'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onEnded: () => void;
}

export interface Suspicion {
  readonly room: string;
  /** Set where the room had an agent: then a job has had the call, even if it never sent a heartbeat. */
  readonly hadAgent: boolean;
}

export class LostJobs {
  readonly #options: LostJobsOptions;
  readonly #suspects = new Map<string, Promise<void>>();
  readonly #stopping = new AbortController();

  constructor(options: LostJobsOptions) {
    this.#options = options;
  }

  /** Watches the call from now on, until it is over, or its agent is found in the room. Returns at once. */
  suspect(suspicion: Suspicion): void {
    const { room } = suspicion;
    if (this.#stopping.signal.aborted || this.#suspects.has(room) || this.#suspects.size >= MOST_SUSPECTS) return;
    this.#suspects.set(
      room,
      this.#watch(suspicion).finally(() => this.#suspects.delete(room)),
    );
  }

  /** Waits for the checks that are under way. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#suspects.values());
  }

  async #watch(suspicion: Suspicion): Promise<void> {
    const { clock, logger } = this.#options;
    const { signal } = this.#stopping;
    const since = clock.now();
    for (let looks = 0; looks < MOST_LOOKS && !signal.aborted; looks += 1) {
      const againInMs = await this.#look(suspicion, since).catch((err: unknown) => {
        logger.warn({ err, room: suspicion.room }, 'failed to check whether a call has lost its job; retrying');
        return SILENT_MS;
      });
      if (againInMs === undefined) return;
      await sleep(clock, againInMs, signal).catch(() => undefined);
    }
  }

  /** @returns milliseconds until another check is worth it; undefined when there is nothing left to do */
  async #look({ room, hadAgent }: Suspicion, since: number): Promise<number | undefined> {
    const { calls, lifecycle, rooms, clock, logger, onEnded } = this.#options;
    const ref = await calls.ofRoom(room);
    const call = ref && (await calls.get(ref));
    if (call === undefined || isTerminal(call.status)) return undefined;
    // No job has had the call: one may still come, and the sweeper ends a call that no job takes.
    if (call.jobSeenAt === null && !hadAgent) return undefined;
    const left = SILENT_MS - (clock.now() - lastHeardOf(call, since));
    if (left > 0) return left;
    if (await rooms.hasAgent(room)) return undefined;
    const { org, id, status, jobSeenAt } = call;
    const reason = 'native_platform_internal_error';
    const { changed } = await lifecycle.end({ org, id, reason, only: { status, jobSeenAt } });
    // The job has sent a heartbeat after all, or another process was faster.
    if (!changed) return SILENT_MS;
    onEnded();
    logger.warn({ org, callId: id, reason }, 'ended a call whose agent has left the room and whose job is silent');
    await rooms.close(room).catch((err: unknown) => logger.warn({ err, callId: id }, 'failed to close the room of a call'));
    return undefined;
  }
}

/** Returns the time of the last heartbeat, in milliseconds since the epoch. */
function lastHeardOf({ jobSeenAt }: CallRecord, since: number): number {
  return jobSeenAt?.getTime() ?? since;
}
