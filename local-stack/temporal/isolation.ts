import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Brings the loopback device of a new network namespace up. */
export const LOOPBACK_UP = '{ ip link set lo up || ifconfig lo up; } 2>/dev/null';

/** For root; for others by way of a user namespace, where the system lets them have one. */
const attempts: readonly (readonly string[])[] = [['--net'], ['--user', '--map-root-user', '--net']];

/**
 * Flags of `unshare` with which a program gets a network of its own, so that no process outside reaches its ports. Undefined where this
 * system knows nothing like it, or doesn't allow it: macOS, most containers, some distributions for others than root.
 */
export async function networkIsolation(): Promise<readonly string[] | undefined> {
  if (process.platform !== 'linux') return undefined;
  for (const flags of attempts) {
    const works = await run('unshare', [...flags, '/bin/sh', '-c', LOOPBACK_UP], { timeout: 10_000 }).then(
      () => true,
      () => false,
    );
    if (works) return flags;
  }
  return undefined;
}
