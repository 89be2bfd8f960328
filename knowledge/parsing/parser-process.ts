import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { finished, type Readable, type Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { readFile, writeFile } from 'node:fs/promises';

import { locateAsset } from '../../platform/assets.ts';
import type { Clock, Timer } from '../../platform/clock.ts';
import { assetFolders } from './assets.ts';
import { HEAP_MEGABYTES } from './limits.ts';
import type { ChildMessage, ParserTask } from './messages.ts';
import { IngestionError } from '../ingestion-failure.ts';

/** Next to the code in `dist/`, where the build puts the child's entry. */
export const PARSER_ENTRY = 'parser-process.mjs';

const POLL_MS = 100;
/** No file needs this much processor time: a backstop for a child whose parent was killed and can't end it. */
const PROCESSOR_SECONDS = 900;

/** How a child came to its end. */
export interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why the parent ended it, if it did. */
  readonly endedFor?: 'memory' | 'crowd' | 'time' | 'no_more_use';
  /** V8 found its heap full. */
  readonly heapFull: boolean;
}

export interface TimeLimit {
  run(): void;
  pause(): void;
  extend(moreMs: number): void;
}

/**
 * One child: an empty environment, no files but its own code, no child processes, no threads, no network, a bounded heap.
 * What it may not limit itself (memory outside the heap, time) is watched from here, and ends with SIGKILL.
 */
export class ParserProcess {
  readonly ended: Promise<ChildEnd>;
  readonly #child: ChildProcess;
  readonly #clock: Clock;
  readonly #messages: AsyncIterator<ChildMessage>;
  #endedFor: ChildEnd['endedFor'];
  #errorOutput = '';

  /** @param options.entry path of the module that runs in the child; the parsers' by default */
  constructor(options: { readonly clock: Clock; readonly entry?: string }) {
    this.#clock = options.clock;
    this.#child = spawnChild(options.entry);
    this.ended = new Promise((resolve) => {
      const end = (code: number | null, signal: NodeJS.Signals | null): void =>
        resolve({
          code,
          signal,
          heapFull: /heap out of memory|Allocation failed|invalid array length Allocation/iu.test(this.#errorOutput),
          ...(this.#endedFor === undefined ? {} : { endedFor: this.#endedFor }),
        });
      this.#child.once('error', () => end(null, null));
      // Not 'close': unread data in the child's other pipes would hold it back for ever.
      this.#child.once('exit', (code, signal) => finished(this.#child.stderr as Readable, () => end(code, signal)));
    });
    this.#child.stderr?.on('data', (part: Buffer) => (this.#errorOutput = (this.#errorOutput + part.toString()).slice(-4000)));
    // A child that ended has closed its side; how it ended is said by `ended`.
    this.#child.stdin?.on('error', () => undefined);
    this.#messages = jsonLines(this.#child.stdio[3] as Readable)[Symbol.asyncIterator]() as AsyncIterator<ChildMessage>;
    this.#holdParent(false);
    if (this.#child.pid !== undefined) void preferForOutOfMemory(this.#child.pid);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Has ended, or is about to. */
  get isOver(): boolean {
    return (
      this.#child.exitCode !== null || this.#child.signalCode !== null || this.#endedFor !== undefined || this.#child.pid === undefined
    );
  }

  /** Writes the task, then the file. @throws what `content` throws */
  async feed(task: ParserTask, content: AsyncIterable<Uint8Array>): Promise<void> {
    this.#holdParent(true);
    const input = this.#child.stdin as Writable;
    input.write(`${JSON.stringify(task)}\n`);
    for await (const part of content) {
      if (input.destroyed || this.isOver) return;
      if (!input.write(part)) await Promise.race([new Promise((resolve) => input.once('drain', resolve)), this.ended]);
    }
    input.end();
  }

  /** The next message, or undefined at the end; the child waits until this is called. */
  async next(): Promise<ChildMessage | undefined> {
    const next = await this.#messages.next();
    return next.done === true ? undefined : next.value;
  }

  /** Ends the child as soon as it holds more than this. The watch ends with the child. @param onLook receives what it holds each time */
  watchMemory(limitBytes: number, onLook?: (bytes: number) => void): void {
    const look = async (): Promise<void> => {
      if (this.isOver || this.#child.pid === undefined) return;
      const bytes = await residentBytes(this.#child.pid);
      if (bytes !== undefined) onLook?.(bytes);
      if (bytes !== undefined && bytes > limitBytes) this.kill('memory');
      else this.#clock.after(POLL_MS, () => void look());
    };
    void look();
  }

  /** Ends the child once it has taken more processor time than this since now. Only on Linux. */
  watchProcessor(limitMs: () => number): void {
    const { pid } = this.#child;
    const look = async (before: number): Promise<void> => {
      const ms = this.isOver || pid === undefined ? undefined : await processorMs(pid);
      if (ms === undefined) return;
      if (ms - before > limitMs()) this.kill('time');
      else this.#clock.after(POLL_MS, () => void look(before));
    };
    if (pid !== undefined) void processorMs(pid).then((ms) => look(ms ?? 0));
  }

  /** A limit that counts only while it runs, and may grow meanwhile. */
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

  kill(why: NonNullable<ChildEnd['endedFor']>): void {
    if (this.isOver) return;
    this.#endedFor = why;
    // The parent may wait for the end.
    this.#holdParent(true);
    this.#child.kill('SIGKILL');
  }

  /** Ends the child and drops what it still had to say. */
  dispose(): void {
    this.kill('no_more_use');
    this.#child.stdin?.destroy();
    (this.#child.stdio[3] as Readable).destroy();
  }

  /** Whether the parent stays alive for this child's sake. One that only waits must not keep it. */
  #holdParent(hold: boolean): void {
    const parts = [this.#child, this.#child.stderr, this.#child.stdin, this.#child.stdio[3]] as readonly { ref?(): void; unref?(): void }[];
    for (const part of parts)
      if (hold) part.ref?.();
      else part.unref?.();
  }
}

function spawnChild(otherEntry?: string): ChildProcess {
  const bundled = locateAsset(import.meta.url, PARSER_ENTRY);
  const entry = otherEntry ?? bundled ?? fileURLToPath(new URL('child/main.ts', import.meta.url));
  const node = [
    process.execPath,
    `--max-old-space-size=${HEAP_MEGABYTES}`,
    '--permission',
    ...readable(bundled).map((path) => `--allow-fs-read=${path}`),
    '--disallow-code-generation-from-strings',
    '--disable-warning=ExperimentalWarning',
    '--disable-warning=SecurityWarning',
    entry,
  ];
  // A shell, where there is one, to set what the kernel itself enforces: processor time, no dumps of memory, no files. And, where util-linux
  // is there, an end with the parent's: a busy child does not notice that its parent is gone.
  const limits = `ulimit -t ${PROCESSOR_SECONDS}; ulimit -c 0; ulimit -f 0
    setpriv --pdeathsig KILL true 2>&- && exec setpriv --pdeathsig KILL "$0" "$@"
    exec "$0" "$@"`;
  const [file = '', ...args] = existsSync('/bin/sh') ? ['/bin/sh', '-c', limits, ...node] : node;
  return spawn(file, args, { env: {}, cwd: '/', stdio: ['pipe', 'ignore', 'pipe', 'pipe'] });
}

/** The child's own code, and what the libraries read next to theirs. */
function readable(bundled: string | undefined): readonly string[] {
  if (bundled !== undefined) return [dirname(bundled)];
  const sources = fileURLToPath(new URL('../../', import.meta.url));
  const paths = ['knowledge', 'platform', 'package.json', 'node_modules'].map((name) => sources + name);
  return [...new Set([...paths, ...paths.map((path) => realpathSync(path)), ...assetFolders()])];
}

/** Two batches of blocks fit many times; a longer line is hostile. */
const LONGEST_LINE = 16_000_000;

/** One value a line. Reads on only when asked to. @throws Error when a line is too long or no JSON */
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

/** Bytes of memory that a process holds at the moment; undefined once it has gone. */
async function residentBytes(pid: number): Promise<number | undefined> {
  const kilobytes = process.platform === 'linux' ? await fromProc(pid) : await fromPs(pid);
  return Number.isFinite(kilobytes) && kilobytes > 0 ? kilobytes * 1024 : undefined;
}

/** Pages differ in size between machines, so the line in kB is read, not the one in pages. */
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

/** Processor time that a process has taken, in milliseconds; undefined once it has gone, and outside Linux. @see proc_pid_stat(5) */
async function processorMs(pid: number): Promise<number | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  // The second field, the name, may hold blanks and brackets.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  return Number.isFinite(ticks) ? ticks * TICK_MS : undefined;
}

/** Has the kernel end this process before any other when memory runs out. Where that isn't possible, nothing happens. */
async function preferForOutOfMemory(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/oom_score_adj`, '1000').catch(() => undefined);
}

/**
 * What it means that a child ended without a word. Time, memory and a crash are the document's doing; a child that was asked to stop or
 * never started is not, and the file may be tried again.
 */
export function failureOf(end: ChildEnd): Error {
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
