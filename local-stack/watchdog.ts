import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { commandLine, waitForExit } from './processes.ts';

/**
 * Reads "+ name pid signal" and "- name" lines; when the writer is gone, however it died, removes the files that are its arguments and
 * signals what is left. It is written in shell, because it has to be small, to outlive the supervisor, and to run wherever the stack does.
 */
const WATCHDOG = `
trap '' INT TERM HUP
list=''
while read -r op name pid signal; do
  rest=''
  for entry in $list; do
    case $entry in "$name":*) ;; *) rest="$rest $entry" ;; esac
  done
  list=$rest
  if [ "$op" = + ]; then list="$list $name:$pid:$signal"; fi
done
rm -f "$@"
for entry in $list; do
  entry=\${entry#*:}
  kill -"\${entry#*:}" "\${entry%%:*}" 2>/dev/null
done
`;

/** Keeps components from outliving their supervisor: a small process notices its death by the end of a pipe. */
export class Watchdog {
  readonly #child: ChildProcess;

  /** @param files are removed when the supervisor is gone. */
  constructor(files: readonly string[] = []) {
    this.#child = spawn('/bin/sh', ['-c', WATCHDOG, 'parley-watchdog', ...files], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    this.#child.on('error', () => undefined);
    this.#child.stdin?.on('error', () => undefined);
    this.#child.unref();
  }

  /** `signal` is the name without SIG; it is sent when the supervisor dies. */
  add(name: string, pid: number, signal: string): void {
    this.#child.stdin?.write(`+ ${name} ${pid} ${signal}\n`);
  }

  remove(name: string): void {
    this.#child.stdin?.write(`- ${name} 0 0\n`);
  }

  close(): void {
    this.#child.stdin?.end();
  }
}

/**
 * Ends components that outlived their supervisor, so that a new one can have their data and ports. A process counts as one of them only
 * when its command line is the very one that was started: process ids are used again.
 */
export async function stopOrphans(runDir: string): Promise<readonly string[]> {
  const ended: string[] = [];
  const files = existsSync(runDir) ? readdirSync(runDir).filter((name) => name.endsWith('.pid')) : [];
  await Promise.all(
    files.map(async (file) => {
      const component = file.slice(0, -'.pid'.length);
      const pid = Number.parseInt(readFileSync(join(runDir, file), 'utf8'), 10);
      const expected = readIfThere(join(runDir, `${component}.command`));
      if (Number.isInteger(pid) && expected !== undefined && (await commandLine(pid)) === expected) {
        process.kill(pid, component === 'postgres' ? 'SIGINT' : 'SIGTERM');
        if (!(await waitForExit(pid, 10_000))) process.kill(pid, 'SIGKILL');
        await waitForExit(pid, 5_000);
        ended.push(component);
      }
      rmSync(join(runDir, file), { force: true });
    }),
  );
  return ended;
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return undefined;
  }
}
