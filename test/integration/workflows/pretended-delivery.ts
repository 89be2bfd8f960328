import { ApplicationFailure } from '@temporalio/common';

import type { DeliveryActivities } from '../../../workflows/delivery/types.ts';

/** Plays a delivery that is due only after so many looks at it. */
export function pretendedDelivery(looks: number): DeliveryActivities {
  let left = looks;
  return {
    async deliver() {
      if (left === 0) return 'succeeded';
      left -= 1;
      throw ApplicationFailure.create({ message: 'not yet delivered', type: 'DueLater', nextRetryDelay: 10 });
    },
  };
}
