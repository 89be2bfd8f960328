/**
 * Starts the parts of a stack by their dependencies, watches over them and stops them in the opposite order.
 *
 *   waiting ──deps ready──▶ starting ──ready()──▶ ready ──exit──▶ starting (again)
 *                               │ exit, or too long                     │
 *                               ▼                                       ▼
 *                       first start: failed                    stop(): stopping ──▶ stopped
 *
 * A part that was ready and dies starts again at once; only one that dies young waits, longer each time.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';

import { aborted } from '../platform/aborted.ts';
import { PartLog } from './part-log.ts';
import { ProcessLedger } from './process-ledger.ts';

export interface PartCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** The command line that the process has once it has replaced itself, where it does. */
  readonly becomes?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Runs as this account instead of the current one; needs root. */
  readonly account?: { readonly uid: number; readonly gid: number };
}

/** One long-running process of a stack. */
export interface Part {
  readonly name: string;
  /** Names of parts that have to be ready before this one starts. */
  readonly dependsOn: readonly string[];
  /** Work before the first start, e.g. creating a data folder. */
  readonly prepare?: (signal: AbortSignal) => Promise<void>;
  readonly command: () => PartCommand;
  /** One look at whether it serves; throws or answers false while it does not. */
  readonly check: (signal: AbortSignal) => Promise<boolean | void>;
  /** Work after the first time it is ready, before its dependants start. */
  readonly afterReady?: (signal: AbortSignal) => Promise<void>;
  /** Told of each line of standard output, which goes to the log as well. */
  readonly onLine?: (line: string) => void;
  /** Default SIGTERM. */
  readonly stopSignal?: NodeJS.Signals;
  /** Milliseconds between the stop signal and SIGKILL; default 15,000. */
  readonly stopTimeoutMs?: number;
  /** Milliseconds to the first readiness; default 90,000. */
  readonly readyTimeoutMs?: number;
}

export type PartState = 'waiting' | 'preparing' | 'starting' | 'ready' | 'stopping' | 'stopped' | 'failed';

export interface PartEvent {
  readonly part: string;
  readonly state: PartState;
  readonly pid?: number;
  /** Milliseconds since the stack began to start. */
  readonly elapsedMs: number;
  /** How often it was started again. */
  readonly restarts: number;
  readonly reason?: string;
}

/** A part did not become ready; `logTail` are the last lines it wrote. */
export class PartFailure extends Error {
  override readonly name = 'PartFailure';
  readonly part: string;
  readonly logFile: string;
  readonly logTail: readonly string[];
  constructor(part: string, reason: string, log: { readonly file: string; readonly tail: readonly string[] }) {
    super(`${part} ${reason}`);
    this.part = part;
    this.logFile = log.file;
    this.logTail = log.tail;
  }
}

export interface SupervisorOptions {
  readonly parts: readonly Part[];
  /** Folder for `<part>.log`. */
  readonly logDir: string;
  /** Folder for `<part>.pid`. */
  readonly runDir: string;
  /** Files that must not outlive this process, however it ends. */
  readonly ownedFiles?: readonly string[];
  readonly onEvent?: (event: PartEvent) => void;
}

interface Death {
  readonly reason: string;
  /** By a signal, thus from outside: by a person, a test or the system, which is no sign of a fault in the part. */
  readonly killed: boolean;
}

/** What was written just before the end is often still in the pipe; a grandchild may hold it open for longer. */
const lastWordsMs = 100;

/** A part that lived this long is healthy: its next death is a new story. */
const settledAfterMs = 5_000;
const restartDelaysMs = [0, 100, 250, 500, 1_000, 2_000, 5_000, 10_000, 30_000];
const checkIntervalMs = 50;

interface Running {
  readonly part: Part;
  readonly log: PartLog;
  state: PartState;
  child: ChildProcess | undefined;
  restarts: number;
  /** Deaths in a row without a settled life. */
  youngDeaths: number;
  readonly firstReady: PromiseWithResolvers<void>;
  /** Its work before the first start, while it goes on. */
  preparing: Promise<void> | undefined;
  /** How the current process ends, once it does. */
  exit: Promise<Death>;
}

export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #running = new Map<string, Running>();
  readonly #stopping = new AbortController();
  readonly #ledger: ProcessLedger;
  #startedAt = 0;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    mkdirSync(options.logDir, { recursive: true });
    mkdirSync(options.runDir, { recursive: true });
    this.#ledger = new ProcessLedger(options.ownedFiles);
    for (const part of options.parts) {
      const firstReady = Promise.withResolvers<void>();
      // A failure is told by start(); a dependant that is not waiting yet must not make it an unhandled one.
      firstReady.promise.catch(() => undefined);
      const log = new PartLog(join(options.logDir, `${part.name}.log`));
      this.#running.set(part.name, {
        part,
        log,
        state: 'waiting',
        child: undefined,
        restarts: 0,
        youngDeaths: 0,
        firstReady,
        preparing: undefined,
        exit: Promise.resolve({ reason: 'is not running', killed: false }),
      });
    }
  }

  /** Starts every part, side by side where their dependencies allow. @throws PartFailure of the first that fails; the others keep running until stop(). */
  async start(): Promise<void> {
    this.#startedAt = performance.now();
    for (const running of this.#running.values()) void this.#live(running);
    await Promise.all([...this.#running.values()].map((running) => running.firstReady.promise));
  }

  /** Waits for one part's first readiness. */
  async ready(name: string): Promise<void> {
    await this.#get(name).firstReady.promise;
  }

  /** The process id while the part runs. */
  pid(name: string): number | undefined {
    return this.#get(name).child?.pid;
  }

  state(name: string): PartState {
    return this.#get(name).state;
  }

  /** Stops the parts, dependants first. `hurry` aborts the waiting and kills them. */
  async stop(hurry?: AbortSignal): Promise<void> {
    this.#stopping.abort(new Error('the stack is stopping'));
    const stopped = new Map<string, Promise<void>>();
    const stopOne = (name: string): Promise<void> => {
      const known = stopped.get(name);
      if (known !== undefined) return known;
      const dependants = [...this.#running.values()].filter(({ part }) => part.dependsOn.includes(name)).map(({ part }) => part.name);
      const promise = Promise.all(dependants.map(stopOne)).then(() => this.#stopPart(this.#get(name), hurry));
      stopped.set(name, promise);
      return promise;
    };
    await Promise.all([...this.#running.keys()].map(stopOne));
    this.#ledger.close();
  }

  #get(name: string): Running {
    const running = this.#running.get(name);
    if (running === undefined) throw new RangeError(`no part named ${name}`);
    return running;
  }

  #tell(running: Running, state: PartState, reason?: string): void {
    running.state = state;
    const pid = running.child?.pid;
    this.#options.onEvent?.({
      part: running.part.name,
      state,
      elapsedMs: performance.now() - this.#startedAt,
      restarts: running.restarts,
      ...(pid === undefined ? {} : { pid }),
      ...(reason === undefined ? {} : { reason }),
    });
  }

  async #live(running: Running): Promise<void> {
    const { part, firstReady } = running;
    const signal = this.#stopping.signal;
    try {
      await Promise.all(part.dependsOn.map((name) => this.ready(name)));
      signal.throwIfAborted();
      if (part.prepare !== undefined) {
        this.#tell(running, 'preparing');
        running.preparing = part.prepare(signal);
        await running.preparing;
        // It may have heard nothing of the stop; what starts from here on would be ended by nobody.
        signal.throwIfAborted();
      }
      await this.#firstLife(running);
    } catch (error) {
      if (!signal.aborted) this.#tell(running, 'failed', error instanceof Error ? error.message : String(error));
      firstReady.reject(error);
      return;
    }
    firstReady.resolve();
    while (!signal.aborted) await this.#nextLife(running);
  }

  /** Up to the first readiness: here a death is final, because somebody is waiting to be told. */
  async #firstLife(running: Running): Promise<void> {
    const { part } = running;
    const exit = this.#spawn(running);
    const outcome = await this.#servingOrGone(running, exit, AbortSignal.timeout(part.readyTimeoutMs ?? 90_000));
    if (outcome !== 'serving') throw this.#failure(running, outcome);
    await part.afterReady?.(this.#stopping.signal);
    this.#tell(running, 'ready');
  }

  async #nextLife(running: Running): Promise<void> {
    const bornAt = performance.now();
    const { reason, killed } = await running.exit;
    if (this.#stopping.signal.aborted) return;
    running.youngDeaths = killed || performance.now() - bornAt >= settledAfterMs ? 0 : running.youngDeaths + 1;
    const delay = restartDelaysMs[Math.min(running.youngDeaths, restartDelaysMs.length - 1)] ?? 0;
    running.restarts += 1;
    running.log.note(`${reason}; starting it again${delay > 0 ? ` in ${delay} ms` : ''}`);
    this.#tell(running, 'starting', reason);
    try {
      await pause(delay, undefined, { signal: this.#stopping.signal });
    } catch {
      return;
    }
    const exit = this.#spawn(running);
    const outcome = await this.#servingOrGone(running, exit);
    if (outcome === 'serving') this.#tell(running, 'ready');
  }

  /** Starts the process; the promise tells how it ended. */
  #spawn(running: Running): Promise<Death> {
    const { part, log } = running;
    const command = part.command();
    const pidFile = join(this.#options.runDir, `${part.name}.pid`);
    const child = spawn(command.file, command.args, {
      env: command.env ?? process.env,
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own: Ctrl-C in the terminal reaches the supervisor only, which then stops the parts in order.
      detached: true,
      ...(command.cwd === undefined ? {} : { cwd: command.cwd }),
      ...(command.account === undefined ? {} : { uid: command.account.uid, gid: command.account.gid }),
    });
    running.child = child;
    child.stdout.on('data', (chunk: Buffer) => log.write(chunk));
    child.stderr.on('data', (chunk: Buffer) => log.write(chunk));
    if (part.onLine !== undefined) createInterface({ input: child.stdout }).on('line', part.onLine);
    if (child.pid !== undefined) {
      writeFileSync(pidFile, `${child.pid}\n`);
      // By this a later start knows the process again (leftovers.ts).
      writeFileSync(
        join(this.#options.runDir, `${part.name}.command`),
        `${(command.becomes ?? [command.file, ...command.args]).join(' ')}\n`,
        { mode: 0o600 },
      );
      this.#ledger.add(part.name, child.pid, part.stopSignal === 'SIGINT' ? 'INT' : 'KILL');
      this.#tell(running, 'starting');
    }
    running.exit = new Promise((resolve) => {
      let over = false;
      const ended = (death: Death): void => {
        // Told twice where a pipe closes late: by then the pid file may be the next process's.
        if (over) return;
        over = true;
        if (running.child === child) running.child = undefined;
        this.#ledger.remove(part.name);
        rmSync(pidFile, { force: true });
        resolve(death);
      };
      child.on('error', (error) => ended({ reason: `could not be started (${error.message})`, killed: false }));
      child.on('exit', (code, signal) => {
        const death =
          signal === null ? { reason: `ended with exit code ${code}`, killed: false } : { reason: `was killed by ${signal}`, killed: true };
        const late = setTimeout(ended, lastWordsMs, death);
        child.on('close', () => {
          clearTimeout(late);
          ended(death);
        });
      });
    });
    return running.exit;
  }

  /** 'serving', 'too late', or how the process ended. */
  async #servingOrGone(running: Running, exit: Promise<Death>, limit?: AbortSignal): Promise<string> {
    const gone = new AbortController();
    void exit.then(() => gone.abort());
    return Promise.race([
      this.#untilServing(running, AbortSignal.any([gone.signal, this.#stopping.signal, ...(limit === undefined ? [] : [limit])])),
      exit.then(({ reason }) => reason),
    ]);
  }

  async #untilServing(running: Running, signal: AbortSignal): Promise<'serving' | 'too late'> {
    while (!signal.aborted) {
      try {
        if ((await running.part.check(AbortSignal.any([signal, AbortSignal.timeout(5_000)]))) !== false) return 'serving';
      } catch {
        // Not yet.
      }
      await pause(checkIntervalMs);
    }
    return 'too late';
  }

  #failure(running: Running, outcome: string): PartFailure {
    const reason = outcome === 'too late' ? `was not ready after ${Math.round((running.part.readyTimeoutMs ?? 90_000) / 1000)} s` : outcome;
    return new PartFailure(running.part.name, reason, { file: running.log.file, tail: running.log.tail() });
  }

  async #stopPart(running: Running, hurry?: AbortSignal): Promise<void> {
    const { part } = running;
    if (running.preparing !== undefined)
      await Promise.race([running.preparing.catch(() => undefined), ...(hurry === undefined ? [] : [aborted(hurry)])]);
    const { child } = running;
    if (child === undefined || child.pid === undefined) {
      running.log.close();
      return;
    }
    this.#tell(running, 'stopping');
    const exited = new Promise<void>((resolve) =>
      child.exitCode !== null || child.signalCode !== null ? resolve() : child.once('exit', () => resolve()),
    );
    const kill = (): void => void child.kill('SIGKILL');
    if (hurry?.aborted) kill();
    else child.kill(part.stopSignal ?? 'SIGTERM');
    hurry?.addEventListener('abort', kill, { once: true });
    const timer = setTimeout(kill, part.stopTimeoutMs ?? 15_000);
    await exited;
    // Its pid file goes with its last words, which a grandchild may hold back for a moment.
    await running.exit;
    clearTimeout(timer);
    hurry?.removeEventListener('abort', kill);
    running.log.close();
    this.#tell(running, 'stopped');
  }
}
