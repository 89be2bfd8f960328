import type { Clock, Timer } from '../../platform/clock.ts';
import { nextInTurn } from '../../platform/semaphore.ts';
import { NEW_PROCESS_BYTES, START_ANOTHER_MS } from './limits.ts';
import type { MemoryBudget, Sharing } from './memory-budget.ts';
import type { ParserKind } from './extension.ts';
import type { ProcessReport } from './messages.ts';
import type { ParserMetrics } from './parser-metrics.ts';
import type { ParserProcess } from './parser-process.ts';
import { type AfterFile, type ProcessEndReason, type RecycleLimits, recycleReason } from './recycling.ts';

export interface ParserProcessesOptions {
  readonly kind: ParserKind;
  readonly most: number;
  /** Most processes that work side by side because many files wait; others are started only when all of these are slow. */
  readonly forBacklog: number;
  readonly start: () => ParserProcess;
  readonly recycle: RecycleLimits;
  /** How long a process waits for files before it ends, in milliseconds. */
  readonly idleMs: number;
  readonly memory: MemoryBudget;
  readonly metrics: ParserMetrics;
  readonly clock: Clock;
}

export interface ProcessLease {
  readonly process: ParserProcess;
  /** True if it has read no file before. */
  readonly isNew: boolean;
  holds(bytes: number): void;
  /** Returns the process once the file has been read, or refused. It takes the next file if it may. */
  finished(outcome: AfterFile['outcome'], report: ProcessReport): void;
  /** Ends the process; does nothing once it has been given back. */
  end(reason: ProcessEndReason): void;
}

interface ProcessRequest {
  /** The file's owner; undefined where there is only one. */
  readonly owner: string | undefined;
  readonly needsNew: boolean;
  readonly signal: AbortSignal | undefined;
}

interface Waiting {
  readonly owner: string | undefined;
  readonly needsNew: boolean;
  readonly since: number;
  readonly grant: (member: Member) => void;
  readonly refuse: (error: unknown) => void;
}

/**
 * Processes of one kind, which read files one after the other: an owner's files in the order in which they came, and first those of owners
 * of whom the fewest are being read. There are few processes: on a machine with few processors a flood of small files goes through one, and
 * a slow file, which would hold up the queue, has another one started. The last that may be started is for an owner of whom none is being
 * read.
 */
export class ParserProcesses {
  readonly #options: ParserProcessesOptions;
  readonly #members = new Set<Member>();
  readonly #waiting: Waiting[] = [];
  /** Time at which a file last left the queue. */
  #movedAt = -Infinity;
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(options: ParserProcessesOptions) {
    this.#options = options;
  }

  /** Starts a process ahead of the first file. */
  warm(): void {
    if (this.#members.size === 0 && !this.#isClosed) this.#rest(this.#start());
  }

  /** @param request.needsNew gives a process that has read no file. @throws the signal's reason when it aborts while waiting */
  async take({ owner, needsNew, signal }: ProcessRequest): Promise<ProcessLease> {
    signal?.throwIfAborted();
    if (this.#isClosed) throw poolClosed();
    const { promise, resolve, reject } = Promise.withResolvers<Member>();
    const waiting: Waiting = { owner, needsNew, since: this.#options.clock.monotonic(), grant: resolve, refuse: reject };
    const leave = (): void => {
      const at = this.#waiting.indexOf(waiting);
      if (at >= 0) this.#waiting.splice(at, 1);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', leave, { once: true });
    this.#waiting.push(waiting);
    this.#serve();
    const member = await promise.finally(() => signal?.removeEventListener('abort', leave));
    if (this.#isClosed) throw poolClosed();
    return this.#lease(member);
  }

  /** Kills all; waiting files are refused with an error that may be retried. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    const members = [...this.#members];
    for (const { refuse } of this.#waiting.splice(0)) refuse(poolClosed());
    for (const member of members) this.#end(member, 'closed');
    await Promise.all(members.map(({ process }) => process.ended));
  }

  #serve(): void {
    this.#timer?.cancel();
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const member = this.#idleFor(next) ?? (this.#mayStart(next) ? this.#start() : undefined);
      if (member === undefined) break;
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      this.#movedAt = this.#options.clock.monotonic();
      this.#occupy(member, next.owner);
      next.grant(member);
    }
    if (this.#waiting.length > 0 && this.#members.size < this.#options.most)
      this.#timer = this.#options.clock.after(START_ANOTHER_MS, () => this.#serve());
  }

  /** Returns the file whose turn it is; undefined where none waits, or the last process is kept for other owners. */
  #next(): Waiting | undefined {
    const busy = [...this.#members].filter(({ isBusy }) => isBusy);
    const readOf = (owner: string): number => busy.filter((member) => member.owner === owner).length;
    const next = nextInTurn(this.#waiting, readOf);
    const isLast = busy.length >= this.#options.most - 1;
    return isLast && next?.owner !== undefined && readOf(next.owner) > 0 ? undefined : next;
  }

  #idleFor({ needsNew }: Waiting): Member | undefined {
    const idle = [...this.#members].filter(({ isBusy, process }) => !isBusy && !process.isOver);
    if (!needsNew) return idle[0];
    const unused = idle.find(({ documents }) => documents === 0);
    const [used] = idle;
    if (unused === undefined && used !== undefined && this.#members.size >= this.#options.most) this.#end(used, 'large_file');
    return unused;
  }

  #mayStart({ needsNew, since }: Waiting): boolean {
    const { most, forBacklog, clock, memory } = this.#options;
    if (this.#members.size >= most) return false;
    if (![...this.#members].some(({ isBusy }) => isBusy)) return true;
    const slowSince = this.#members.size < forBacklog ? since : Math.max(since, this.#movedAt);
    return (needsNew || clock.monotonic() - slowSince >= START_ANOTHER_MS) && memory.hasRoomFor(NEW_PROCESS_BYTES);
  }

  #start(): Member {
    const { kind, clock, memory, metrics } = this.#options;
    const member = new Member(this.#options.start(), clock.monotonic(), () => this.#end(member, 'memory_budget'));
    this.#members.add(member);
    memory.join(member, NEW_PROCESS_BYTES);
    metrics.started(kind);
    // The lease of a busy process reports its end.
    void member.process.ended.then(() => member.isBusy || this.#forget(member, 'crashed'));
    return member;
  }

  #occupy(member: Member, owner: string | undefined): void {
    member.isBusy = true;
    member.owner = owner;
    member.idle?.cancel();
    member.process.holdParent(true);
  }

  /** Ends the process unless the next file comes within a while. */
  #rest(member: Member): void {
    const { clock, idleMs } = this.#options;
    member.process.holdParent(false);
    member.idle = clock.after(idleMs, () => this.#end(member, 'idle'));
  }

  #lease(member: Member): ProcessLease {
    const { kind, clock, recycle, memory } = this.#options;
    let isHeld = true;
    return {
      process: member.process,
      isNew: member.documents === 0,
      holds: (bytes) => memory.holds(member, bytes),
      finished: (outcome, report) => {
        if (!isHeld) return;
        isHeld = false;
        member.isBusy = false;
        member.documents += 1;
        const ageMs = clock.monotonic() - member.startedAt;
        const reason = recycleReason({ kind, documents: member.documents, ageMs, report, outcome }, recycle);
        if (reason === undefined) {
          this.#rest(member);
          memory.holds(member, report.residentBytes);
        } else this.#end(member, reason);
        this.#serve();
        if (kind === 'plain') this.warm();
      },
      end: (reason) => {
        if (!isHeld) return;
        isHeld = false;
        member.isBusy = false;
        this.#end(member, reason);
        this.#serve();
      },
    };
  }

  #end(member: Member, reason: ProcessEndReason): void {
    this.#forget(member, reason);
    member.process.kill(reason === 'memory_budget' ? 'crowd' : 'no_more_use');
    // A reader that waits for its message learns from the end of its stream.
    if (!member.isBusy) member.process.dispose();
  }

  /** Counts an end once, with its first reason. */
  #forget(member: Member, reason: ProcessEndReason): void {
    if (!this.#members.delete(member)) return;
    member.idle?.cancel();
    this.#options.memory.leave(member);
    this.#options.metrics.ended(this.#options.kind, reason);
  }
}

class Member implements Sharing {
  readonly process: ParserProcess;
  readonly startedAt: number;
  readonly kill: () => void;
  isBusy = false;
  owner: string | undefined;
  documents = 0;
  idle: Timer | undefined;

  constructor(process: ParserProcess, startedAt: number, kill: () => void) {
    this.process = process;
    this.startedAt = startedAt;
    this.kill = kill;
  }
}

function poolClosed(): Error {
  return new Error('the pool of parsers is closed');
}
