import { askForServer } from './servers.ts';
import type { OwnControlPlane } from './own-control-planes.ts';
import type { ControlPlaneAddresses } from './test-stack.ts';

export type { ControlPlaneAddresses } from './test-stack.ts';

/** Returns a real API server with Parley's resource definitions, shared by all test files: work in namespaces of your own. */
export function controlPlane(): Promise<ControlPlaneAddresses> {
  return askForServer('/control-plane');
}

/** Takes a control plane for this file alone until it is given back: without objects of Parley, and without organisations' namespaces. */
export function takeControlPlane(): Promise<OwnControlPlane> {
  return askForServer('/own-control-plane/take');
}

export async function giveBackControlPlane({ server }: OwnControlPlane): Promise<void> {
  await askForServer(`/own-control-plane/give-back?server=${encodeURIComponent(server)}`);
}
