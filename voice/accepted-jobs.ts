import type { Clock, Timer } from '../platform/clock.ts';

/** Longest time that the media server takes to assign an accepted job, in milliseconds: LiveKit's agent server warns after as long. */
const ASSIGNMENT_MS = 7_500;

/**
 * The jobs that this server has accepted and that no process runs yet. LiveKit's agent server counts jobs only once a process runs them: of calls
 * that arrive in the same second it would accept any number and queue them while other servers are idle.
 */
export class AcceptedJobs {
  readonly #clock: Clock;
  readonly #jobs = new Map<string, Timer | undefined>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#jobs.size;
  }

  /** Counts a job until it is assigned and launched, or until the media server has evidently given it to another server. */
  accepted(id: string): void {
    this.#jobs.get(id)?.cancel();
    this.#jobs.set(
      id,
      this.#clock.after(ASSIGNMENT_MS, () => this.#jobs.delete(id)),
    );
  }

  /** Counts a job that has arrived and waits for a process, for as long as that takes. */
  assigned(id: string): void {
    this.#jobs.get(id)?.cancel();
    this.#jobs.set(id, undefined);
  }

  /** Counts a job no longer: a process runs it, or none ever will. */
  launched(id: string): void {
    this.#jobs.get(id)?.cancel();
    this.#jobs.delete(id);
  }
}
