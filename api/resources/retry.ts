import { KubeError } from '../../kube/error.ts';
import { sleep, type Clock } from '../../platform/clock.ts';
import { ApiError } from '../http/api-error.ts';

/** Far more than writers of one object on several replicas need: each round one of them gets through. */
const maxAttempts = 30;

/** Runs `attempt` again, from its reading, while somebody else's write comes in between. */
export async function retryStale<T>(
  { clock, random }: { readonly clock: Clock; readonly random: () => number },
  attempt: () => Promise<T>,
): Promise<T> {
  for (let round = 1; ; round += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof KubeError && error.staleConflict)) throw error;
      if (round === maxAttempts) {
        throw new ApiError('conflict', 'the object kept changing while this request was carried out; try again', {
          conflicts: [],
          cause: error,
        });
      }
      await sleep(clock, Math.min(200, 5 * round) * random());
    }
  }
}
