import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

import { commandLine } from './processes.ts';

/** Returns the supervisor's process id, or undefined when none runs. A number that another program now has does not count. */
export async function runningSupervisor(pidFile: string): Promise<number | undefined> {
  const text = readIfThere(pidFile);
  return text === undefined ? undefined : supervisorIn(text);
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

async function supervisorIn(text: string): Promise<number | undefined> {
  const pid = Number.parseInt(text, 10);
  if (!Number.isInteger(pid)) return undefined;
  const command = await commandLine(pid);
  return command !== undefined && /(parley\.mjs|cli\/main\.ts)\b.*\bdev\b/.test(command) ? pid : undefined;
}

/** Takes the folder for this process; returns the other's process id when it is taken. The file is this process's until `release`. */
export async function takeFolder(pidFile: string): Promise<{ readonly release: () => void } | { readonly takenBy: number }> {
  const own = `${pidFile}.${process.pid}`;
  writeFileSync(own, `${process.pid}\n`, { mode: 0o644 });
  try {
    for (;;) {
      try {
        // A link appears with its content; a file that is created first could be read while it is still empty.
        linkSync(own, pidFile);
        return { release: () => rmSync(pidFile, { force: true }) };
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
      const found = readIfThere(pidFile);
      const takenBy = found === undefined ? undefined : await supervisorIn(found);
      if (takenBy !== undefined && takenBy !== process.pid) return { takenBy };
      if (found !== undefined) removeDead(pidFile, found);
    }
  } finally {
    rmSync(own, { force: true });
  }
}

/**
 * Moves the file of a dead process away. Another start may have found the same one and been faster: the moved file is checked, and put
 * back if it is the other's.
 */
function removeDead(pidFile: string, found: string): void {
  const aside = `${pidFile}.${process.pid}.dead`;
  try {
    renameSync(pidFile, aside);
    if (readFileSync(aside, 'utf8') !== found) linkSync(aside, pidFile);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // The file is gone, or another start has taken it: the next round finds out.
    if (code !== 'ENOENT' && code !== 'EEXIST') throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}
