import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';

/** Bytes of memory that a process holds at the moment; undefined once it has gone. */
export async function residentBytes(pid: number): Promise<number | undefined> {
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

/** Has the kernel end this process before any other when memory runs out. Where that isn't possible, nothing happens. */
export async function preferForOutOfMemory(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/oom_score_adj`, '1000').catch(() => undefined);
}
