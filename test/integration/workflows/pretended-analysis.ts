import { ApplicationFailure } from '@temporalio/common';

import { MODEL_FAILURE, type AnalysisActivities } from '../../../workflows/analysis/types.ts';

/** Plays a model that is unavailable at first, and then answers or refuses. */
export function pretendedAnalysis(outcome: 'completed' | 'refused'): AnalysisActivities {
  let asked = 0;
  return {
    analyse() {
      asked += 1;
      if (asked === 1) throw ApplicationFailure.create({ message: 'away', type: MODEL_FAILURE, details: ['model_unavailable'] });
      if (outcome === 'refused')
        throw ApplicationFailure.create({ message: 'no', type: MODEL_FAILURE, details: ['model_refused'], nonRetryable: true });
      return Promise.resolve('completed');
    },
    giveUp: () => Promise.resolve('failed'),
  };
}
