import type { RoleName } from '../../platform/role-names.ts';
import type { Component } from '../supervisor.ts';
import { isOk } from './probes.ts';

interface RoleComponentOptions {
  readonly role: RoleName;
  readonly dependsOn: readonly string[];
  /** How to run the `parley` command: Node and the entry, the very ones that run now. */
  readonly command: readonly [file: string, ...args: string[]];
  readonly port: number;
  readonly env: NodeJS.ProcessEnv;
}

/** One of Parley's own roles. Its environment is the person's, less what would point it elsewhere. */
export function roleComponent({ role, dependsOn, command: [file, ...args], port, env }: RoleComponentOptions): Component {
  const url = `http://127.0.0.1:${port}`;
  return {
    name: role,
    dependsOn,
    command: () => ({ file, args: [...args, role], env }),
    check: (signal) => isOk(`${url}/readyz`, signal),
    liveUrl: `${url}/healthz`,
    stopTimeoutMs: 30_000,
    // Stopping a stack must not wait for calls, as SIGTERM does.
    stopSignal: role === 'voice' ? 'SIGINT' : 'SIGTERM',
  };
}
