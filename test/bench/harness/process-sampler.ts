/** CPU time and memory of another process, read from `/proc`. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

export interface ProcessReading {
  /** User and system time since its start, in milliseconds. */
  readonly cpuMs: number;
  /** Resident memory, in bytes. */
  readonly rssBytes: number;
}

/** Parses a reading from the texts of `/proc/<pid>/stat` and `/proc/<pid>/status`. */
export function parseReading(stat: string, status: string, ticksPerSecond: number): ProcessReading {
  // The second field is the executable's name in parentheses and may itself hold blanks and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user = 0, system = 0] = fields.slice(11, 13).map(Number);
  const rssKiB = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  return { cpuMs: ((user + system) * 1000) / ticksPerSecond, rssBytes: rssKiB * 1024 };
}

export interface ProcessUse {
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly rssMaxBytes: number;
  readonly rssLastBytes: number;
}

/** Samples one process from its creation until {@link ProcessSampler.stop}. Where there is no `/proc`, every answer is undefined. */
export class ProcessSampler {
  readonly #pid: number;
  readonly #ticksPerSecond: number;
  readonly #first: ProcessReading | undefined;
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout;
  #last: ProcessReading | undefined;
  #rssMaxBytes = 0;

  /** @param options.sinceProcessStart true to count the CPU time that was used before, too */
  constructor(options: { readonly pid: number; readonly intervalMs?: number; readonly sinceProcessStart?: boolean }) {
    this.#pid = options.pid;
    this.#ticksPerSecond = clockTicksPerSecond();
    const now = this.#read();
    this.#first = now && options.sinceProcessStart ? { cpuMs: 0, rssBytes: 0 } : now;
    this.#timer = setInterval(() => this.#read(), options.intervalMs ?? 500);
    this.#timer.unref();
  }

  /** Returns what the process has used since the sampler began. */
  use(): ProcessUse | undefined {
    const now = this.#read();
    if (this.#first === undefined || now === undefined) return undefined;
    return {
      cpuMs: now.cpuMs - this.#first.cpuMs,
      wallMs: performance.now() - this.#startedAt,
      rssMaxBytes: this.#rssMaxBytes,
      rssLastBytes: now.rssBytes,
    };
  }

  stop(): ProcessUse | undefined {
    clearInterval(this.#timer);
    return this.use();
  }

  /** Keeps the last reading once the process is gone. */
  #read(): ProcessReading | undefined {
    try {
      const stat = readFileSync(`/proc/${this.#pid}/stat`, 'utf8');
      this.#last = parseReading(stat, readFileSync(`/proc/${this.#pid}/status`, 'utf8'), this.#ticksPerSecond);
      this.#rssMaxBytes = Math.max(this.#rssMaxBytes, this.#last.rssBytes);
    } catch {
      // The process is gone, or the system is not Linux.
    }
    return this.#last;
  }
}

function clockTicksPerSecond(): number {
  try {
    return Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' })) || 100;
  } catch {
    return 100;
  }
}
