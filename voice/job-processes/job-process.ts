/** One process that serves calls, as the agent server sees it. */
import { fork, type ChildProcess } from 'node:child_process';

import type { RunningJobInfo } from '@livekit/agents';

import { errorMessageOf } from '../../platform/caught.ts';
import { withTimeout, type Clock } from '../../platform/clock.ts';
import { every } from '../../platform/every.ts';
import type { Logger } from '../../platform/logging.ts';
import { megabytes } from '../../platform/megabytes.ts';
import type { FromJobProcess, RoleServices, ToJobProcess } from './messages.ts';
import { isWorn, type PlacingLimits, type ProcessState } from './placing.ts';

export interface JobProcessOptions {
  readonly file: string;
  readonly limits: PlacingLimits;
  readonly services: RoleServices;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Longest start on a busy machine, in milliseconds: a process that is not ready by then is killed. */
  readonly startMs: number;
  /** Longest wait for its calls to end, in milliseconds; then it is killed. */
  readonly closeMs: number;
  /** Called when it is ready, when a call of it has entered its room or ended, and when it is gone. */
  readonly onChange: () => void;
}

const PING_MS = 2_500;
/** Longest wait for an answer, in milliseconds, before a process takes no more calls; its event loop is too busy for those that it has. */
const SLOW_MS = 5_000;
/** Longest wait for an answer, in milliseconds, before a process is killed: nothing of its calls works any more. */
const HANGS_MS = 60_000;
/** Factor above the memory limit for new calls at which a process is killed. */
const CEILING = 2;

export class JobProcess implements ProcessState {
  readonly #options: JobProcessOptions;
  readonly #child: ChildProcess;
  readonly #jobs = new Map<string, { readonly info: RunningJobInfo; readonly ended: PromiseWithResolvers<void> }>();
  /** Jobs that have not entered their rooms yet. */
  readonly #beginning = new Set<string>();
  readonly #gone = new AbortController();
  /** Resolves when it can take calls or is gone. */
  readonly settled: Promise<void>;
  /** Resolves when it is gone. */
  readonly exited: Promise<void>;
  #phase: ProcessState['phase'] = 'starting';
  #served = 0;
  #rssBytes = 0;
  #answeredAt: number;

  constructor(options: JobProcessOptions) {
    this.#options = options;
    const { clock, file, startMs, logger } = options;
    this.#answeredAt = clock.monotonic();
    this.#child = fork(file);
    const { pid } = this.#child;
    const ready = Promise.withResolvers<void>();
    const exit = Promise.withResolvers<void>();
    this.exited = exit.promise;
    this.settled = Promise.race([ready.promise, this.exited]);
    this.#child.on('message', (message) => this.#receive(message as FromJobProcess, ready.resolve));
    this.#child.on('error', (err) => logger.warn({ err, pid }, 'failed to reach a job process'));
    // A process that could not be started gives only an error.
    this.#child.once(pid === undefined ? 'error' : 'exit', (code: unknown, signal?: unknown) => {
      this.#onExit(code, signal);
      exit.resolve();
    });
    const late = clock.after(startMs, () => this.#kill(`was not ready after ${startMs / 1_000} s`));
    void this.settled.then(() => late.cancel());
  }

  get phase(): ProcessState['phase'] {
    return this.#phase;
  }

  get served(): number {
    return this.#served;
  }

  get rssBytes(): number {
    return this.#rssBytes;
  }

  get calls(): number {
    return this.#jobs.size;
  }

  get jobs(): readonly RunningJobInfo[] {
    return [...this.#jobs.values()].map(({ info }) => info);
  }

  get beginning(): number {
    return this.#beginning.size;
  }

  get alive(): boolean {
    return !this.#gone.signal.aborted && this.#child.connected;
  }

  get responsive(): boolean {
    return this.alive && this.#options.clock.monotonic() - this.#answeredAt < SLOW_MS;
  }

  launch(info: RunningJobInfo): void {
    this.#served += 1;
    this.#jobs.set(info.job.id, { info, ended: Promise.withResolvers() });
    this.#beginning.add(info.job.id);
    this.#send({ case: 'start', job: info });
    this.#retireIfWorn();
  }

  /** Ends the call of one job. Resolves when it has ended, or the process. */
  async stop(jobId: string): Promise<void> {
    this.#send({ case: 'stop', jobId });
    await this.ended(jobId);
  }

  async ended(jobId: string): Promise<void> {
    await this.#jobs.get(jobId)?.ended.promise;
  }

  /** Ends all its calls, and the process. */
  async close(): Promise<void> {
    this.#phase = 'retiring';
    this.#send({ case: 'stop' });
    this.#exitIfDone();
    const { clock, closeMs } = this.#options;
    await withTimeout(clock, closeMs, this.exited);
    if (this.#gone.signal.aborted) return;
    this.#kill(`did not end within ${closeMs / 1_000} s`);
    await this.exited;
  }

  #receive(message: FromJobProcess, onReady: () => void): void {
    this.#answeredAt = this.#options.clock.monotonic();
    if (message.case === 'ready') {
      if (this.#phase === 'starting') this.#phase = 'ready';
      onReady();
      this.#watch();
    } else if (message.case === 'entered') this.#beginning.delete(message.jobId);
    else if (message.case === 'ended') {
      this.#beginning.delete(message.jobId);
      this.#jobs.get(message.jobId)?.ended.resolve();
      this.#jobs.delete(message.jobId);
    } else if (message.case === 'pong') this.#rssBytes = message.rssBytes;
    else if (message.case === 'worn') this.#retire('something was thrown in it that no call handled');
    else void this.#answer(message);
    this.#retireIfWorn();
    this.#exitIfDone();
    if (message.case === 'ready' || message.case === 'entered' || message.case === 'ended') this.#options.onChange();
  }

  #watch(): void {
    const { clock, logger, limits } = this.#options;
    let slow = false;
    const { signal } = this.#gone;
    const { pid } = this.#child;
    void every({ intervalMs: PING_MS, clock, logger, failure: 'failed to ask a job process', signal }, async () => {
      this.#send({ case: 'ping' });
      const silentMs = clock.monotonic() - this.#answeredAt;
      if (silentMs > HANGS_MS) this.#kill(`has not answered for ${HANGS_MS / 1_000} s`);
      else if (this.#rssBytes > limits.memoryBytes * CEILING)
        this.#kill(`used more than ${megabytes(limits.memoryBytes * CEILING)} of memory`);
      const isSlow = silentMs > SLOW_MS;
      if (isSlow && !slow)
        logger.warn({ pid, calls: this.calls }, 'a job process is too busy to answer; it takes no more calls until it does');
      slow = isSlow;
    });
  }

  #retireIfWorn(): void {
    const { limits } = this.#options;
    if (!isWorn(this, limits)) return;
    this.#retire(
      this.#rssBytes > limits.memoryBytes ? `it uses ${megabytes(this.#rssBytes)} of memory` : `it has served ${this.#served} calls`,
    );
  }

  #retire(why: string): void {
    if (this.#phase === 'retiring') return;
    this.#phase = 'retiring';
    const { logger, limits, onChange } = this.#options;
    if (limits.maxServed > 1)
      logger.info({ pid: this.#child.pid, calls: this.calls, why }, 'a job process takes no more calls and is replaced');
    onChange();
  }

  #exitIfDone(): void {
    if (this.#phase === 'retiring' && this.#jobs.size === 0) this.#send({ case: 'exit' });
  }

  async #answer({ id, service, args }: Extract<FromJobProcess, { readonly case: 'ask' }>): Promise<void> {
    try {
      const serve = this.#options.services[service] as (...args: readonly unknown[]) => Promise<unknown>;
      this.#send({ case: 'answer', id, value: await serve(...args) });
    } catch (error) {
      this.#send({ case: 'answer', id, error: errorMessageOf(error) });
    }
  }

  #kill(why: string): void {
    this.#options.logger.error({ pid: this.#child.pid, calls: this.calls }, `killed a job process: it ${why}; its calls end as failed`);
    this.#child.kill('SIGKILL');
  }

  #onExit(code: unknown, signal: unknown): void {
    const { logger, onChange } = this.#options;
    const { calls } = this;
    if (this.#phase !== 'retiring' || calls > 0)
      logger.error({ pid: this.#child.pid, code, signal, calls }, 'a job process is gone, and its calls with it');
    this.#phase = 'retiring';
    for (const { ended } of this.#jobs.values()) ended.resolve();
    this.#jobs.clear();
    this.#beginning.clear();
    this.#gone.abort();
    onChange();
  }

  #send(message: ToJobProcess): void {
    // A process that is going away needs no message any more.
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }
}
