/**
 * Starts the components of a stack by their dependencies, restarts those that end, and stops them in the opposite order.
 *
 *   waiting ──dependencies ready──▶ preparing ──▶ starting ──check()──▶ ready ──exit──▶ starting (again)
 *                                                    │ exit or timeout                    │
 *                                                    ▼                                    ▼
 *                                            first start: failed                 stop(): stopping ──▶ stopped
 *
 * A component that was ready and ends starts again at once; only one that ends young waits, longer each time.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';

import { untilAborted } from '../platform/aborted.ts';
import { errorMessageOf } from '../platform/caught.ts';
import { awakeClock } from '../platform/clock.ts';
import { pollUntil } from '../platform/poll-until.ts';
import { ComponentLog } from './component-log.ts';
import { lowerPriority } from './lower-priority.ts';
import { Watchdog } from './watchdog.ts';

export interface ComponentCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** Command line that the process has once it has replaced itself, where it does. */
  readonly becomes?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Account that runs the process instead of the current one; needs root. */
  readonly account?: { readonly uid: number; readonly gid: number } | undefined;
}

/** One long-running process of a stack: a server, or one of Parley's roles. */
export interface Component {
  readonly name: string;
  /** Names of components that have to be ready before this one starts. */
  readonly dependsOn: readonly string[];
  /** Work before the first start, e.g. creating a data folder. */
  readonly prepare?: (signal: AbortSignal) => Promise<void>;
  readonly command: () => ComponentCommand;
  /** Probes whether it serves; throws or answers false while it does not. */
  readonly check: (signal: AbortSignal) => Promise<boolean | void>;
  /** Address that answers over HTTP, whatever it says, while the process is neither stopped nor stuck. */
  readonly liveUrl?: string;
  /** Work after the first time it is ready, before its dependants start. */
  readonly afterReady?: ((signal: AbortSignal) => Promise<void>) | undefined;
  /** Receives each line of standard output, which goes to the log as well. */
  readonly onLine?: ((line: string) => void) | undefined;
  /** Signal that stops the process; default SIGTERM. */
  readonly stopSignal?: NodeJS.Signals | undefined;
  /** Milliseconds between the stop signal and SIGKILL; default 15,000. */
  readonly stopTimeoutMs?: number;
  /** Milliseconds to the first readiness; default 90,000. */
  readonly readyTimeoutMs?: number;
  /** Niceness of a component that nobody waits for, where processors are short. Default 0; 10 gets a tenth of that. */
  readonly nice?: number;
}

export type ComponentState = 'waiting' | 'preparing' | 'starting' | 'ready' | 'stopping' | 'stopped' | 'failed';

export interface ComponentEvent {
  readonly component: string;
  readonly state: ComponentState;
  readonly pid: number | undefined;
  /** Milliseconds since the stack began to start. */
  readonly elapsedMs: number;
  readonly restarts: number;
  readonly liveUrl: string | undefined;
  readonly reason: string | undefined;
}

/** A component did not become ready; `logTail` are the last lines it wrote. */
export class ComponentFailedError extends Error {
  override readonly name = 'ComponentFailedError';
  readonly logFile: string;
  readonly logTail: readonly string[];
  constructor(component: string, reason: string, log: ComponentLog) {
    super(`${component} ${reason}`);
    this.logFile = log.file;
    this.logTail = log.tail();
  }
}

export interface SupervisorOptions {
  readonly components: readonly Component[];
  /** Folder for `<component>.log`. */
  readonly logDir: string;
  /** Folder for `<component>.pid`. */
  readonly runDir: string;
  /** Files that must not outlive this process, however it ends. */
  readonly ownedFiles?: readonly string[];
  readonly onEvent?: (event: ComponentEvent) => void;
}

interface Exit {
  readonly reason: string;
  /** Set if a signal ended the process, thus from outside: no sign of a fault in the component. */
  readonly killed: boolean;
}

/** The last output before the end is often still in the pipe; a grandchild may hold it open for longer. */
const DRAIN_OUTPUT_MS = 100;
/** A component that ran this long is healthy: its next exit counts as the first. */
const HEALTHY_AFTER_MS = 5_000;
const RESTART_DELAYS_MS = [0, 100, 250, 500, 1_000, 2_000, 5_000, 10_000, 30_000];
const CHECK_INTERVAL_MS = 50;
/** The limit is long enough for a busy machine: an exit is noticed at once, and a hang shows on the console. */
const READY_TIMEOUT_MS = 300_000;
const STOP_TIMEOUT_MS = 15_000;

interface Running {
  readonly component: Component;
  readonly log: ComponentLog;
  state: ComponentState;
  child: ChildProcess | undefined;
  restarts: number;
  /** Exits in a row before {@link HEALTHY_AFTER_MS}. */
  earlyExits: number;
  readonly firstReady: PromiseWithResolvers<void>;
  /** Work before the first start, while it goes on. */
  preparing: Promise<void> | undefined;
  /** Resolves when the current process ends. */
  exit: Promise<Exit>;
}

export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #running = new Map<string, Running>();
  readonly #stopping = new AbortController();
  readonly #watchdog: Watchdog;
  #startedAt = 0;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    mkdirSync(options.logDir, { recursive: true });
    mkdirSync(options.runDir, { recursive: true });
    this.#watchdog = new Watchdog(options.ownedFiles);
    for (const component of options.components) {
      const firstReady = Promise.withResolvers<void>();
      // start() reports a failure; a dependant that does not wait yet must not make it an unhandled rejection.
      firstReady.promise.catch(() => undefined);
      this.#running.set(component.name, {
        component,
        log: new ComponentLog(join(options.logDir, `${component.name}.log`)),
        state: 'waiting',
        child: undefined,
        restarts: 0,
        earlyExits: 0,
        firstReady,
        preparing: undefined,
        exit: Promise.resolve({ reason: 'is not running', killed: false }),
      });
    }
  }

  /**
   * Starts every component, in parallel where their dependencies allow.
   *
   * @throws ComponentFailedError of the first that fails; the others keep running until stop()
   */
  async start(): Promise<void> {
    this.#startedAt = performance.now();
    for (const running of this.#running.values()) void this.#live(running);
    await Promise.all([...this.#running.values()].map((running) => running.firstReady.promise));
  }

  /** Waits until one component is ready for the first time. */
  async ready(name: string): Promise<void> {
    await this.#get(name).firstReady.promise;
  }

  /** Returns the process id while the component runs. */
  pid(name: string): number | undefined {
    return this.#get(name).child?.pid;
  }

  state(name: string): ComponentState {
    return this.#get(name).state;
  }

  /** Stops the components, dependants first. `force` aborts the waiting and kills them. */
  async stop(force?: AbortSignal): Promise<void> {
    this.#stopping.abort(new Error('the stack is stopping'));
    const stopped = new Map<string, Promise<void>>();
    const stopOne = (name: string): Promise<void> => {
      const known = stopped.get(name);
      if (known !== undefined) return known;
      const dependants = this.#options.components.filter(({ dependsOn }) => dependsOn.includes(name));
      const promise = Promise.all(dependants.map((dependant) => stopOne(dependant.name))).then(() =>
        this.#stopComponent(this.#get(name), force),
      );
      stopped.set(name, promise);
      return promise;
    };
    await Promise.all([...this.#running.keys()].map(stopOne));
    this.#watchdog.close();
  }

  #get(name: string): Running {
    const running = this.#running.get(name);
    if (running === undefined) throw new RangeError(`no component named ${name}`);
    return running;
  }

  #emit(running: Running, state: ComponentState, reason?: string): void {
    const { component, restarts } = running;
    running.state = state;
    this.#options.onEvent?.({
      component: component.name,
      state,
      elapsedMs: performance.now() - this.#startedAt,
      restarts,
      liveUrl: component.liveUrl,
      pid: running.child?.pid,
      reason,
    });
  }

  async #live(running: Running): Promise<void> {
    const { component, firstReady } = running;
    const { signal } = this.#stopping;
    try {
      await Promise.all(component.dependsOn.map((name) => this.ready(name)));
      signal.throwIfAborted();
      if (component.prepare !== undefined) {
        this.#emit(running, 'preparing');
        running.preparing = component.prepare(signal);
        await running.preparing;
        // The work may ignore the signal; a process that starts from here on would never be stopped.
        signal.throwIfAborted();
      }
      await this.#firstRun(running);
    } catch (error) {
      if (!signal.aborted) this.#emit(running, 'failed', errorMessageOf(error));
      firstReady.reject(error);
      return;
    }
    firstReady.resolve();
    while (!signal.aborted) await this.#nextRun(running);
  }

  /** Runs the component up to its first readiness: here an exit is final, because the start waits for the outcome. */
  async #firstRun(running: Running): Promise<void> {
    const { name, afterReady, readyTimeoutMs = READY_TIMEOUT_MS } = running.component;
    this.#spawn(running);
    const outcome = await this.#readyOrExited(running, AbortSignal.timeout(readyTimeoutMs));
    if (outcome === 'timeout')
      throw new ComponentFailedError(name, `was not ready after ${Math.round(readyTimeoutMs / 1000)} s`, running.log);
    if (outcome !== 'ready') throw new ComponentFailedError(name, outcome.reason, running.log);
    await afterReady?.(this.#stopping.signal);
    this.#emit(running, 'ready');
  }

  async #nextRun(running: Running): Promise<void> {
    const startedAt = performance.now();
    const { reason, killed } = await running.exit;
    if (this.#stopping.signal.aborted) return;
    running.earlyExits = killed || performance.now() - startedAt >= HEALTHY_AFTER_MS ? 0 : running.earlyExits + 1;
    const delay = RESTART_DELAYS_MS[Math.min(running.earlyExits, RESTART_DELAYS_MS.length - 1)] ?? 0;
    running.restarts += 1;
    running.log.note(`${reason}; starting it again${delay > 0 ? ` in ${delay} ms` : ''}`);
    this.#emit(running, 'starting', reason);
    try {
      await pause(delay, undefined, { signal: this.#stopping.signal });
    } catch {
      return;
    }
    this.#spawn(running);
    if ((await this.#readyOrExited(running)) === 'ready') this.#emit(running, 'ready');
  }

  #spawn(running: Running): void {
    const { component, log } = running;
    const { file, args, becomes, env, cwd, account } = component.command();
    const pidFile = join(this.#options.runDir, `${component.name}.pid`);
    const child = spawn(file, args, {
      env: env ?? process.env,
      stdio: ['ignore', 'pipe', 'pipe'],
      // The process has a group of its own: Ctrl-C in the terminal reaches the supervisor only, which then stops the components in order.
      detached: true,
      cwd,
      ...account,
    });
    running.child = child;
    for (const output of [child.stdout, child.stderr]) output.on('data', (chunk: Buffer) => log.write(chunk));
    if (component.onLine !== undefined) createInterface({ input: child.stdout }).on('line', component.onLine);
    if (child.pid !== undefined) {
      writeFileSync(pidFile, `${child.pid}\n`);
      // A later start recognises the process by this file (stopOrphans).
      const commandFile = join(this.#options.runDir, `${component.name}.command`);
      writeFileSync(commandFile, `${(becomes ?? [file, ...args]).join(' ')}\n`, { mode: 0o600 });
      if (component.nice !== undefined) lowerPriority(child.pid, component.nice);
      this.#watchdog.add(component.name, child.pid, component.stopSignal === 'SIGINT' ? 'INT' : 'KILL');
      this.#emit(running, 'starting');
    }
    running.exit = new Promise((resolve) => {
      let over = false;
      const ended = (exit: Exit): void => {
        // A second call comes where a pipe closes late: by then the pid file may be the next process's.
        if (over) return;
        over = true;
        if (running.child === child) running.child = undefined;
        this.#watchdog.remove(component.name);
        rmSync(pidFile, { force: true });
        resolve(exit);
      };
      child.on('error', (error) => ended({ reason: `could not be started (${error.message})`, killed: false }));
      child.on('exit', (code, signal) => {
        const exit =
          signal === null ? { reason: `ended with exit code ${code}`, killed: false } : { reason: `was killed by ${signal}`, killed: true };
        const late = setTimeout(ended, DRAIN_OUTPUT_MS, exit);
        child.on('close', () => {
          clearTimeout(late);
          ended(exit);
        });
      });
    });
  }

  async #readyOrExited({ component, exit }: Running, limit?: AbortSignal): Promise<'ready' | 'timeout' | Exit> {
    const exited = new AbortController();
    void exit.then(() => exited.abort());
    const signal = AbortSignal.any([exited.signal, this.#stopping.signal, ...(limit === undefined ? [] : [limit])]);
    const isReady = async (): Promise<boolean> => {
      try {
        return (await component.check(AbortSignal.any([signal, AbortSignal.timeout(5_000)]))) !== false;
      } catch {
        return false;
      }
    };
    const checked = async (): Promise<'ready' | 'timeout'> =>
      (await pollUntil(isReady, Boolean, { everyMs: CHECK_INTERVAL_MS, clock: awakeClock, signal })) ? 'ready' : 'timeout';
    return Promise.race([checked(), exit]);
  }

  async #stopComponent(running: Running, force?: AbortSignal): Promise<void> {
    const { stopSignal = 'SIGTERM', stopTimeoutMs = STOP_TIMEOUT_MS } = running.component;
    if (running.preparing !== undefined) await untilAborted(running.preparing, force).catch(() => undefined);
    const { child } = running;
    if (child?.pid !== undefined) {
      this.#emit(running, 'stopping');
      const kill = (): void => void child.kill('SIGKILL');
      child.kill(force?.aborted ? 'SIGKILL' : stopSignal);
      force?.addEventListener('abort', kill, { once: true });
      const timer = setTimeout(kill, stopTimeoutMs);
      await running.exit;
      clearTimeout(timer);
      force?.removeEventListener('abort', kill);
      this.#emit(running, 'stopped');
    }
    running.log.close();
  }
}
