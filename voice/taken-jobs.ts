import type { Clock, Timer } from '../platform/clock.ts';

/** How long the media server may take to assign a job that was accepted, in milliseconds: what LiveKit's agent server (1.9.0) waits before it complains. */
const assignmentMs = 7_500;

/**
 * The jobs that this server has accepted and that no process has yet. LiveKit's agent server counts jobs from their processes on: of calls
 * that come in the same second it would take any number, and let them wait one after another while other servers have nothing to do.
 */
export class TakenJobs {
  readonly #clock: Clock;
  readonly #jobs = new Map<string, Timer | undefined>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#jobs.size;
  }

  /** It was accepted. Unless it comes, it is forgotten: the media server has given it to somebody else. */
  accepted(id: string): void {
    this.#jobs.get(id)?.cancel();
    this.#jobs.set(
      id,
      this.#clock.after(assignmentMs, () => this.#jobs.delete(id)),
    );
  }

  /** It has come, and waits for a process for as long as that takes. */
  assigned(id: string): void {
    this.#jobs.get(id)?.cancel();
    this.#jobs.set(id, undefined);
  }

  /** A process has it, or none ever will. */
  placed(id: string): void {
    this.#jobs.get(id)?.cancel();
    this.#jobs.delete(id);
  }
}
