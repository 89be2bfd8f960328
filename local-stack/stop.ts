import { UserError } from '../platform/user-error.ts';
import { removeEnvFile } from './env-file.ts';
import { layoutOf } from './layout.ts';
import { waitForExit } from './processes.ts';
import { runningSupervisor } from './supervisor-lock.ts';
import { stopOrphans } from './watchdog.ts';

/** The roles' own limit for an orderly stop is shorter. */
const STOP_WITHIN_MS = 90_000;

/** Stops the stack of `folder`, and processes that a killed one has left running. Does nothing when there is none. */
export async function stopStack(folder: string): Promise<void> {
  const layout = layoutOf(folder);
  const pid = await runningSupervisor(layout.supervisorPid);
  if (pid === undefined) {
    removeEnvFile(layout.envFile);
    const ended = await stopOrphans(layout.run);
    process.stdout.write(
      ended.length === 0 ? 'no stack runs in this folder\n' : `stopped orphaned processes of an earlier stack: ${ended.join(', ')}\n`,
    );
    return;
  }
  removeEnvFile(layout.envFile);
  process.kill(pid, 'SIGTERM');
  // The supervisor releases the folder before it ends, and until then it keeps the ports in front of Temporal.
  if (!(await waitForExit(pid, STOP_WITHIN_MS))) {
    throw new UserError(`the stack (process ${pid}) has not stopped within ${STOP_WITHIN_MS / 1000} s`, {
      cure: `kill -9 ${pid}; its components end with it`,
    });
  }
  process.stdout.write('stopped\n');
}
