import { askForServer } from './servers.ts';
import type { ControlPlaneAddresses } from './test-stack.ts';

export type { ControlPlaneAddresses } from './test-stack.ts';

/** A real API server with Parley's resource definitions, shared by all test files: work in namespaces of your own. */
export function controlPlane(): Promise<ControlPlaneAddresses> {
  return askForServer('/control-plane');
}
