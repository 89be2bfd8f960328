/** Identifies processes: their numbers are reused, also after a restart of the container or of the machine. */
import { readFile } from 'node:fs/promises';

/** Returns the number and, on Linux, the start time of a process; undefined for one that does not exist. */
export async function processIdentity(pid: number): Promise<string | undefined> {
  try {
    const [boot, stat] = await Promise.all([readFile('/proc/sys/kernel/random/boot_id', 'utf8'), readFile(`/proc/${pid}/stat`, 'utf8')]);
    // The program's name in brackets may hold anything. The state follows it and, 19 fields later, the start time.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie counts as ended.
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : `${pid}/${fields[19] ?? ''}/${boot.trim()}`;
  } catch {
    // Other systems have only the number.
    return process.platform === 'linux' ? undefined : byNumber(pid);
  }
}

/** Returns whether a process still runs. @param identity from {@link processIdentity} */
export async function isAlive(identity: string): Promise<boolean> {
  return (await processIdentity(Number.parseInt(identity, 10))) === identity;
}

function byNumber(pid: number): string | undefined {
  try {
    process.kill(pid, 0);
    return `${pid}`;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? `${pid}` : undefined;
  }
}
