import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Kubectl {
  /** Runs kubectl and answers its standard output. @throws with what it wrote to standard error. */
  run(args: readonly string[], options?: { readonly signal?: AbortSignal; readonly timeoutMs?: number }): Promise<string>;
}

export function kubectlWith(options: { readonly binary: string; readonly kubeconfig: string }): Kubectl {
  return {
    async run(args, { signal, timeoutMs = 120_000 } = {}) {
      try {
        // A large JSON list is the answer to `get`; the default limit is 1 MB.
        const { stdout } = await run(options.binary, [`--kubeconfig=${options.kubeconfig}`, ...args], {
          timeout: timeoutMs,
          maxBuffer: 256 * 1024 * 1024,
          ...(signal === undefined ? {} : { signal }),
        });
        return stdout;
      } catch (error) {
        signal?.throwIfAborted();
        const { stderr } = error as { stderr?: string };
        throw new Error(`kubectl ${args[0]}: ${stderr?.trim() || (error as Error).message}`, { cause: error });
      }
    },
  };
}
