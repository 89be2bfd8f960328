import { type ChildProcess, spawn } from 'node:child_process';

/**
 * Reads "+ name pid signal" and "- name" lines; when the writer is gone, however it died, removes the files that are
 * its arguments and signals what is left.
 * In shell, because it has to be small, to outlive the supervisor, and to run wherever the stack does.
 */
const watchdog = `
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

/** Keeps parts from outliving their supervisor: a small process that learns of its death by the end of a pipe. */
export class ProcessLedger {
  readonly #child: ChildProcess;

  /** @param files are removed when the supervisor is gone. */
  constructor(files: readonly string[] = []) {
    this.#child = spawn('/bin/sh', ['-c', watchdog, 'parley-watchdog', ...files], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    this.#child.on('error', () => undefined);
    this.#child.stdin?.on('error', () => undefined);
    this.#child.unref();
  }

  /** `signal` is the name without SIG, sent when the supervisor died. */
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
