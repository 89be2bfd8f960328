import { askForServer } from './servers.ts';

/** Returns `host:port` of a real Temporal server, shared by all test files: use task queues and workflow ids of your own. */
export function temporalAddress(): Promise<string> {
  return askForServer('/temporal');
}
