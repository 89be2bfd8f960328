import type { Part } from '../supervisor.ts';
import { httpCheck } from './http-check.ts';

export interface RoleOptions {
  readonly role: 'operator' | 'api' | 'worker' | 'dispatcher' | 'voice';
  readonly dependsOn: readonly string[];
  /** How to run the `parley` command: Node and the entry, the very ones that run now. */
  readonly command: readonly [file: string, ...args: string[]];
  readonly port: number;
  readonly env: NodeJS.ProcessEnv;
  /** Default SIGTERM. */
  readonly stopSignal?: NodeJS.Signals;
}

/** One of Parley's own roles. Its environment is the person's, less what would point it elsewhere. */
export function rolePart(options: RoleOptions): Part {
  const [file, ...args] = options.command;
  return {
    name: options.role,
    dependsOn: options.dependsOn,
    command: () => ({ file, args: [...args, options.role], env: options.env }),
    check: async (signal) => (await httpCheck({ url: `http://127.0.0.1:${options.port}/readyz`, signal })).status === 200,
    stopTimeoutMs: 30_000,
    ...(options.stopSignal && { stopSignal: options.stopSignal }),
  };
}
