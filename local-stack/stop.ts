import { UserError } from '../platform/user-error.ts';
import { removeEnvFile } from './env-file.ts';
import { layoutOf } from './layout.ts';
import { endLeftovers } from './leftovers.ts';
import { waitForExit } from './processes.ts';
import { runningSupervisor } from './supervisor-lock.ts';

/** Longer than the roles' own limit for an orderly stop. */
const stopWithinMs = 90_000;

/** Stops the stack of `folder`; also what a killed one has left running. Fine when there is none. */
export async function stopStack(folder: string): Promise<void> {
  const layout = layoutOf(folder);
  const pid = await runningSupervisor(layout.supervisorPid);
  if (pid === undefined) {
    removeEnvFile(layout.envFile);
    const ended = await endLeftovers(layout.run);
    process.stdout.write(
      ended.length === 0 ? 'no stack runs in this folder\n' : `stopped what an earlier stack had left running: ${ended.join(', ')}\n`,
    );
    return;
  }
  removeEnvFile(layout.envFile);
  process.kill(pid, 'SIGTERM');
  // It leaves the folder before it ends, and until then it keeps the ports of Temporal's doors.
  if (!(await waitForExit(pid, stopWithinMs))) {
    throw new UserError(`the stack (process ${pid}) has not stopped within ${stopWithinMs / 1000} s`, {
      cure: `kill -9 ${pid}; its parts end with it`,
    });
  }
  process.stdout.write('stopped\n');
}
