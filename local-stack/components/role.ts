import type { RoleName } from '../../platform/role-names.ts';
import type { Component } from '../supervisor.ts';
import { isOk } from './probes.ts';

/**
 * Memory that loads leave behind in the worker, as the chart bounds it: the C library's arenas, of which each thread would otherwise keep its own,
 * and the space for new objects, which Node lets grow to 128 MB. Calls are the slower for it.
 */
export const BOUNDED_MEMORY = { MALLOC_ARENA_MAX: '2', NODE_OPTIONS: '--max-semi-space-size=16' };

interface RoleComponentOptions {
  readonly role: RoleName;
  readonly dependsOn: readonly string[];
  /** Runs the `parley` command: Node and the entry, the very ones that run now. */
  readonly command: readonly [file: string, ...args: string[]];
  readonly port: number;
  readonly env: NodeJS.ProcessEnv;
}

/** Runs one of Parley's own roles. Its environment is the person's, without the variables that would point it elsewhere. */
export function roleComponent({ role, dependsOn, command: [file, ...args], port, env }: RoleComponentOptions): Component {
  const url = `http://127.0.0.1:${port}`;
  return {
    name: role,
    dependsOn,
    command: () => ({ file, args: [...args, role], env: role === 'worker' ? { ...BOUNDED_MEMORY, ...env } : env }),
    check: (signal) => isOk(`${url}/readyz`, signal),
    liveUrl: `${url}/healthz`,
    stopTimeoutMs: 30_000,
    // Stopping a stack must not wait for calls, as SIGTERM does.
    stopSignal: role === 'voice' ? 'SIGINT' : 'SIGTERM',
    ...(role === 'worker' && { nice: 10 }),
  };
}
