import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

import { commandLine } from './processes.ts';

/** The supervisor's process id, or undefined when none runs. A number that another program now has does not count. */
export async function runningSupervisor(pidFile: string): Promise<number | undefined> {
  let pid: number;
  try {
    pid = Number.parseInt(readFileSync(pidFile, 'utf8'), 10);
  } catch {
    return undefined;
  }
  if (!Number.isInteger(pid)) return undefined;
  const command = await commandLine(pid);
  return command !== undefined && /(parley\.mjs|cli\/main\.ts)\b.*\bdev\b/.test(command) ? pid : undefined;
}

/** Takes the folder for this process; answers the other's process id when it is taken. The file is this process's until `release`. */
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
      const takenBy = await runningSupervisor(pidFile);
      if (takenBy !== undefined && takenBy !== process.pid) return { takenBy };
      rmSync(pidFile, { force: true });
    }
  } finally {
    rmSync(own, { force: true });
  }
}
