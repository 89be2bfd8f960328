/** Post-call analysis: asks the agent's model, stores the results and their event. Runs in Temporal's sandbox. */
import { ActivityFailure, ApplicationFailure, proxyActivities } from '@temporalio/workflow';

import type { AnalysisJob } from '../../calls/analysis/names.ts';
import { MODEL_FAILURE, type AnalysisActivities, type AnalysisEnd } from './types.ts';

const { analyse } = proxyActivities<Pick<AnalysisActivities, 'analyse'>>({
  // The analysis takes two rounds, each of up to three requests.
  startToCloseTimeout: '10 minutes',
  // The activity sends heartbeats, so that a worker which dies in it is noticed soon.
  heartbeatTimeout: '10 seconds',
  // The retries outlast about two hours in which a provider, or the Kubernetes API that has the key, is unavailable.
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '10 minutes', maximumAttempts: 20 },
});

const { giveUp } = proxyActivities<Pick<AnalysisActivities, 'giveUp'>>({
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

export async function analyseCall(job: AnalysisJob): Promise<AnalysisEnd> {
  try {
    return await analyse(job);
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    const { cause } = error;
    if (!(cause instanceof ApplicationFailure) || cause.type !== MODEL_FAILURE)
      return giveUp(job, { code: 'internal_error', message: 'the analysis could not be made: see the log of the worker' });
    const [code] = (cause.details ?? []) as readonly string[];
    return giveUp(job, { code: code ?? 'model_unavailable', message: cause.message });
  }
}
