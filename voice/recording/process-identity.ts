/** Which process is meant: numbers of processes come again, also after a restart of the container or of the machine. */
import { readFile } from 'node:fs/promises';

/**
 * The number, and when it began where the system tells.
 * @returns undefined for a process that isn't there
 */
export async function processIdentity(pid: number): Promise<string | undefined> {
  try {
    const [boot, stat] = await Promise.all([readFile('/proc/sys/kernel/random/boot_id', 'utf8'), readFile(`/proc/${pid}/stat`, 'utf8')]);
    // The name of the program stands in brackets, and may hold anything. State and, 19 behind it, the time of the beginning follow.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // What has ended and only waits to be looked at by its parent is not there any more.
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : `${pid}/${fields[19] ?? ''}/${boot.trim()}`;
  } catch {
    // Elsewhere than on Linux the number alone has to do.
    return process.platform === 'linux' ? undefined : byNumber(pid);
  }
}

/** @param identity as {@link processIdentity} told it */
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
