import { execFile, type ChildProcess } from 'node:child_process';
import { finished, type Readable, type Writable } from 'node:stream';
import { readFile, writeFile } from 'node:fs/promises';

import type { Clock, Timer } from '../../platform/clock.ts';
import { IngestionError } from '../ingestion-failure.ts';
import type { ParserKind } from './extension.ts';
import { PARSER_INPUT, PARSER_OUTPUT, type ChildMessage } from './messages.ts';
import { spawnParser } from './spawn-parser.ts';

const POLL_MS = 100;

export interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The parent's reason, if it ended the process. */
  readonly endedFor?: 'memory' | 'crowd' | 'time' | 'no_more_use';
  readonly heapFull: boolean;
}

export interface TimeLimit {
  run(): void;
  pause(): void;
  extend(moreMs: number): void;
}

export interface Watch {
  readonly residentBytes: number;
  /** Returns the limit of processor time for this file; only on Linux. */
  readonly processorMs: () => number;
  /** Receives the resident memory at each look. */
  readonly onLook?: (bytes: number) => void;
}

/**
 * One process that reads files: an empty environment, no files but its own code, no child processes, no threads, no network, a bounded
 * heap. Limits that it can't set itself (memory outside the heap, time) are watched from here, and end it with SIGKILL.
 */
export class ParserProcess {
  readonly ended: Promise<ChildEnd>;
  readonly #child: ChildProcess;
  readonly #input: Writable;
  readonly #output: Readable;
  readonly #clock: Clock;
  readonly #messages: AsyncIterator<ChildMessage>;
  #endedFor: ChildEnd['endedFor'];
  #errorOutput = '';

  /** @param options.entry path of the module that runs in the process; the parsers' by default */
  constructor(options: { readonly clock: Clock; readonly kind?: ParserKind; readonly entry?: string }) {
    this.#clock = options.clock;
    this.#child = spawnParser(options.kind ?? 'plain', options.entry);
    this.#input = this.#child.stdio[PARSER_INPUT] as Writable;
    this.#output = this.#child.stdio[PARSER_OUTPUT] as Readable;
    this.ended = new Promise((resolve) => {
      const end = (code: number | null, signal: NodeJS.Signals | null): void =>
        resolve({
          code,
          signal,
          heapFull: /heap out of memory|Allocation failed|invalid array length Allocation/iu.test(this.#errorOutput),
          ...(this.#endedFor === undefined ? {} : { endedFor: this.#endedFor }),
        });
      this.#child.once('error', () => end(null, null));
      // 'close' won't do: unread data in the process's other pipes would hold it back for ever.
      this.#child.once('exit', (code, signal) => finished(this.#child.stderr as Readable, () => end(code, signal)));
    });
    this.#child.stderr?.on('data', (part: Buffer) => (this.#errorOutput = (this.#errorOutput + part.toString()).slice(-4000)));
    // A process that ended has closed its side; `ended` tells how.
    this.#input.on('error', () => undefined);
    this.#messages = jsonLines(this.#output)[Symbol.asyncIterator]() as AsyncIterator<ChildMessage>;
    this.holdParent(false);
    if (this.#child.pid !== undefined) void preferForOutOfMemory(this.#child.pid);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** True once it has ended, or is about to. */
  get isOver(): boolean {
    return (
      this.#child.exitCode !== null || this.#child.signalCode !== null || this.#endedFor !== undefined || this.#child.pid === undefined
    );
  }

  /** Resolves when the process can take more, or has ended. */
  async write(bytes: Uint8Array): Promise<void> {
    const input = this.#input;
    if (input.destroyed || this.isOver) return;
    if (!input.write(bytes)) await Promise.race([new Promise((resolve) => input.once('drain', resolve)), this.ended]);
  }

  /** Returns the next message, or undefined at the end; the process waits until this is called. */
  async next(): Promise<ChildMessage | undefined> {
    const next = await this.#messages.next();
    return next.done === true ? undefined : next.value;
  }

  /**
   * Ends the process as soon as it takes more than this; a file that is read before the first look costs nothing. @returns a function that
   * ends the watch
   */
  watch({ residentBytes: mostBytes, processorMs: mostMs, onLook }: Watch): () => void {
    const { pid } = this.#child;
    let before: number | undefined;
    let timer: Timer | undefined;
    let isDone = false;
    const look = async (): Promise<void> => {
      if (pid === undefined) return;
      const [bytes = 0, ms = 0] = await Promise.all([residentBytes(pid), Number.isFinite(mostMs()) ? processorMs(pid) : undefined]);
      if (isDone || this.isOver) return;
      before ??= ms;
      onLook?.(bytes);
      if (bytes > mostBytes) this.kill('memory');
      else if (ms - before > mostMs()) this.kill('time');
      else timer = this.#clock.after(POLL_MS, () => void look());
    };
    timer = this.#clock.after(POLL_MS, () => void look());
    return () => {
      isDone = true;
      timer?.cancel();
    };
  }

  /** Starts a time limit that counts only while it runs, and may grow meanwhile. */
  timeLimit(ms: number): TimeLimit {
    let left = ms;
    let since: number | undefined;
    let timer: Timer | undefined;
    const pause = (): void => {
      timer?.cancel();
      if (since !== undefined) left -= this.#clock.monotonic() - since;
      since = undefined;
    };
    const run = (): void => {
      since = this.#clock.monotonic();
      timer = this.#clock.after(Math.max(0, left), () => this.kill('time'));
    };
    const extend = (moreMs: number): void => {
      const isRunning = since !== undefined;
      pause();
      left += moreMs;
      if (isRunning) run();
    };
    return { run, pause, extend };
  }

  /** Ends the process and drops its remaining output. */
  kill(why: NonNullable<ChildEnd['endedFor']>): void {
    if (this.isOver) return;
    this.#endedFor = why;
    // The parent may wait for the end.
    this.holdParent(true);
    this.#child.kill('SIGKILL');
  }

  dispose(): void {
    this.kill('no_more_use');
    this.#input.destroy();
    this.#output.destroy();
  }

  /** Decides whether the parent stays alive for this process. One that only waits must not keep it. */
  holdParent(hold: boolean): void {
    const parts = [this.#child, this.#child.stderr, this.#input, this.#output] as readonly { ref?(): void; unref?(): void }[];
    for (const part of parts)
      if (hold) part.ref?.();
      else part.unref?.();
  }
}

/**
 * Returns the failure for a process that ended without a message. The document causes the end by time, memory or a crash, but not that of a
 * process that was asked to stop or never started: then the file may be retried.
 */
export function failureOfEnd(end: ChildEnd): Error {
  if (end.endedFor === 'crowd')
    return new Error('the files that are read at the same time take too much memory together; it may be tried again');
  if (end.endedFor === 'memory' || end.heapFull || (end.endedFor === undefined && end.signal === 'SIGKILL'))
    return new IngestionError('parse_memory', 'The file takes too much memory to be read. Split it into several files, or save it again.');
  if (end.endedFor === 'time' || end.signal === 'SIGXCPU')
    return new IngestionError(
      'parse_timeout',
      'The file takes longer to be read than a file of its size may. Split it into several files, take out long runs of markup, or save it again.',
    );
  const crashed =
    end.code !== null ? end.code > 128 : ['SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGABRT', 'SIGFPE', 'SIGTRAP'].includes(end.signal ?? '');
  if (crashed)
    return new IngestionError(
      'corrupt_file',
      'The parser broke down on this file. Open it where it was made, save it again, and upload that.',
    );
  return new Error(`a parser ended before it had read its file (code ${end.code}, signal ${end.signal}); it may be tried again`);
}

/** Tells whether an earlier file could have caused the end: it can't cause a limit that was passed during this file. */
export function isInconclusive(end: ChildEnd): boolean {
  return end.endedFor === undefined && !end.heapFull && end.signal !== 'SIGXCPU';
}

/** Most characters of a line: many times two batches of blocks; a longer line is hostile. */
const LONGEST_LINE = 16_000_000;

/** Reads one value a line, and reads on only when asked to. @throws Error when a line is too long or no JSON */
async function* jsonLines(stream: Readable): AsyncGenerator {
  let open: Buffer[] = [];
  let openBytes = 0;
  for await (const part of stream as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = part.indexOf(0x0a); end >= 0; end = part.indexOf(0x0a, from)) {
      yield JSON.parse(Buffer.concat([...open, part.subarray(from, end)]).toString());
      open = [];
      openBytes = 0;
      from = end + 1;
    }
    if (from < part.length) {
      open.push(part.subarray(from));
      openBytes += part.length - from;
    }
    if (openBytes > LONGEST_LINE) throw new Error('a parser sent a line without an end');
  }
}

/** Returns the bytes of memory that a process holds at the moment; undefined once it has gone. */
async function residentBytes(pid: number): Promise<number | undefined> {
  const kilobytes = process.platform === 'linux' ? await fromProc(pid) : await fromPs(pid);
  return Number.isFinite(kilobytes) && kilobytes > 0 ? kilobytes * 1024 : undefined;
}

/** Reads the line in kB, not the one in pages, because pages differ in size between machines. */
async function fromProc(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
}

function fromPs(pid: number): Promise<number> {
  return new Promise((resolve) => {
    execFile('ps', ['-o', 'rss=', '-p', String(pid)], (error, stdout) => resolve(error === null ? Number(stdout.trim()) : Number.NaN));
  });
}

/** The kernel counts processor time for others in hundredths of a second. */
const TICK_MS = 10;

/**
 * Returns the processor time that a process has taken, in milliseconds; undefined once it has gone, and outside Linux. @see
 * proc_pid_stat(5)
 */
async function processorMs(pid: number): Promise<number | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  // The second field, the name, may hold blanks and brackets.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  return Number.isFinite(ticks) ? ticks * TICK_MS : undefined;
}

/** Has the kernel end this process before any other when memory runs out. Does nothing where that isn't possible. */
async function preferForOutOfMemory(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/oom_score_adj`, '1000').catch(() => undefined);
}
