import { type Clock, sleep } from '../../platform/clock.ts';

/** Allows one request at a time to each host, with the pause between them that the host asks for. */
export class HostTurns {
  readonly #clock: Clock;
  readonly #last = new Map<string, Promise<unknown>>();
  readonly #endedAt = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Runs `task` when all earlier tasks of this host are over, however they ended. */
  async take<T>(host: string, task: () => Promise<T>): Promise<T> {
    const before = this.#last.get(host) ?? Promise.resolve();
    const turn = before.then(task);
    // This settles with the task and never rejects: the next task only waits for it.
    const settled = turn.then(
      () => undefined,
      () => undefined,
    );
    this.#last.set(host, settled);
    return turn;
  }

  /** Waits until `pauseMs` have passed since the last page of the host; then one begins. */
  async pause(host: string, pauseMs: number, signal: AbortSignal): Promise<void> {
    const endedAt = this.#endedAt.get(host);
    if (endedAt === undefined) return;
    const wait = endedAt + pauseMs - this.#clock.monotonic();
    if (wait > 0) await sleep(this.#clock, wait, signal);
  }

  ended(host: string): void {
    this.#endedAt.set(host, this.#clock.monotonic());
  }
}
