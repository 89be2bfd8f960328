/** Types in the history of a retry series: ids, and how it ended. */
import type { DeliveryJob } from '../../webhooks/temporal-retries/names.ts';

export interface DeliveryActivities {
  /**
   * Makes the attempt that is due, if one is, and ends with the state of the delivery once a workflow has nothing more to do for it.
   * Until then it fails, with the delay of its next attempt.
   */
  deliver(job: DeliveryJob): Promise<string>;
}
