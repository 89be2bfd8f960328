/** Reads the kernel's figures of another process. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';

/** Returns the bytes of memory that a process holds at the moment; undefined once it has gone. */
export async function residentBytes(pid: number): Promise<number | undefined> {
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
export async function processorMs(pid: number): Promise<number | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  // The second field, the name, may hold blanks and brackets.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  return Number.isFinite(ticks) ? ticks * TICK_MS : undefined;
}

/** Has the kernel end this process before any other when memory runs out. Does nothing where that isn't possible. */
export async function preferForOutOfMemory(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/oom_score_adj`, '1000').catch(() => undefined);
}
