/**
 * Runs the processes that serve an agent server's calls, one or several in each; in place of LiveKit's pool, whose processes can't be
 * shared.
 */
import type { RunningJobInfo } from '@livekit/agents';

import { backoffDelay } from '../../platform/backoff.ts';
import type { AcceptedJobs } from '../accepted-jobs.ts';
import { JobProcess, type JobProcessOptions } from './job-process.ts';
import { choosePlace, placesIn, processesToStart, startsNow } from './placing.ts';

/** Period of past arrivals, in milliseconds: as many calls as came in it may come at once again. */
const ARRIVALS_MS = 10_000;
/** Assumed time for the start of a process before one has started, in milliseconds. */
const FIRST_START_MS = 1_500;
/** Pauses before the next try after a process that did not start, in milliseconds. */
const RESTART = { baseMs: 500, maxMs: 30_000 } as const;

export interface JobProcessesOptions extends Omit<JobProcessOptions, 'onChange'> {
  readonly accepted: AcceptedJobs;
  /** Most calls that the agent server takes. */
  readonly capacity: number;
  readonly cores: number;
}

/** A live call, as the agent server sees it. */
export interface LiveJob {
  readonly runningJob: RunningJobInfo;
  /** Ends the call. Resolves when it has ended. */
  close(): Promise<void>;
  /** Resolves when the call has ended. */
  join(): Promise<void>;
}

export class JobProcesses {
  readonly #options: JobProcessesOptions;
  readonly #processes = new Set<JobProcess>();
  readonly #waiting: RunningJobInfo[] = [];
  #arrivals: readonly number[] = [];
  #failures = 0;
  #startMs = FIRST_START_MS;
  #pausing = false;
  #closed = true;

  constructor(options: JobProcessesOptions) {
    this.#options = options;
  }

  get live(): readonly LiveJob[] {
    return [...this.#processes].flatMap((process) =>
      process.jobs.map((runningJob) => {
        const { id } = runningJob.job;
        return { runningJob, close: () => process.stop(id), join: () => process.ended(id) };
      }),
    );
  }

  /** Facts that decide how many more calls can begin. */
  get places(): { readonly ready: number; readonly beginning: number; readonly startMs: number } {
    const processes = [...this.#processes];
    return {
      ready: placesIn(processes, this.#options.limits),
      beginning: processes.reduce((sum, { beginning }) => sum + beginning, 0),
      startMs: this.#startMs,
    };
  }

  open(): void {
    this.#closed = false;
    this.#fill();
  }

  /** Gives the job to the process with the fewest calls; if none has a place, to the next one that has. */
  launch(job: RunningJobInfo): void {
    const { accepted, clock } = this.#options;
    accepted.assigned(job.job.id);
    this.#arrivals = [...this.#recent(), clock.monotonic()];
    this.#waiting.push(job);
    this.#place();
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const { job } of this.#waiting.splice(0)) this.#options.accepted.launched(job.id);
    await Promise.all([...this.#processes].map((process) => process.close()));
  }

  #recent(): readonly number[] {
    const since = this.#options.clock.monotonic() - ARRIVALS_MS;
    return this.#arrivals.filter((at) => at > since);
  }

  #place(): void {
    const { accepted, limits } = this.#options;
    for (;;) {
      const process = this.#waiting.length === 0 ? undefined : choosePlace([...this.#processes], limits);
      const next = process === undefined ? undefined : this.#waiting.shift();
      if (process === undefined || next === undefined) break;
      // The agent server counts the job itself from here on.
      accepted.launched(next.job.id);
      process.launch(next);
    }
    this.#fill();
  }

  #fill(): void {
    if (this.#closed || this.#pausing) return;
    const { capacity, cores, limits } = this.#options;
    const processes = [...this.#processes];
    const live = processes.reduce((sum, { calls }) => sum + calls, 0);
    const waiting = this.#waiting.length;
    const wanted = { waiting, arrivals: this.#recent().length, capacity: Math.max(0, capacity - live - waiting) };
    const toStart = processesToStart(processes, limits, wanted);
    const { beginning } = this.places;
    for (let left = startsNow(toStart, processes, limits, { waiting, beginning, cores }); left > 0; left -= 1) this.#start();
  }

  #start(): void {
    const { clock, startMs } = this.#options;
    const began = clock.monotonic();
    const process = new JobProcess({ ...this.#options, onChange: () => this.#place() });
    this.#processes.add(process);
    // The next process won't start either, if this one did not.
    void process.settled.then(() => this.#settled(process.alive, process.alive ? Math.max(1, clock.monotonic() - began) : startMs));
    void process.exited.then(() => this.#exited(process));
  }

  #exited(process: JobProcess): void {
    this.#processes.delete(process);
    this.#place();
  }

  #settled(alive: boolean, tookMs: number): void {
    this.#startMs = tookMs;
    if (alive) {
      this.#failures = 0;
      return;
    }
    this.#failures += 1;
    this.#pausing = true;
    this.#options.clock.after(backoffDelay(this.#failures, RESTART), () => {
      this.#pausing = false;
      this.#fill();
    });
  }
}
