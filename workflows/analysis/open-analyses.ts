/**
 * Opens what the worker needs to analyse calls.
 *
 * The trigger `calls_are_analysed` (store/migrations/0001_schema.sql) inserts the row of an analysis in the transaction that ends a call.
 * `run` finds it and starts the workflow `analyseCall`.
 */
import type { Registry } from 'prom-client';

import { analysisQueue, analysisWorkflowId, type AnalysisJob } from '../../calls/analysis/names.ts';
import { PriceTable } from '../../calls/usage/price-table.ts';
import type { ProviderKeyReader } from '../../calls/provider-access/index.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Config } from '../../platform/config/config.ts';
import type { EgressGuard } from '../../platform/egress/egress.ts';
import type { Logger } from '../../platform/logging.ts';
import type { Measurement } from '../../platform/telemetry/gen-ai/model-requests.ts';
import { traceContextOf } from '../../platform/telemetry/trace-context.ts';
import { continueTrace } from '../../platform/telemetry/tracing.ts';
import type { WorkflowStarter } from '../../platform/temporal/workflow-starter.ts';
import type { Store } from '../../store/index.ts';
import { keepStarting } from '../keep-starting.ts';
import { createAnalysisActivities } from './activities.ts';
import type { AnalysisActivities } from './types.ts';

export interface Analyses {
  readonly activities: AnalysisActivities;
  /** Starts the analyses that are due, until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export interface OpenAnalysesOptions {
  readonly config: Config;
  readonly store: Pick<Store, 'calls' | 'agentRevisions'>;
  readonly egress: Pick<EgressGuard, 'for'>;
  readonly keys: ProviderKeyReader;
  readonly workflows: Pick<WorkflowStarter, 'start'>;
  readonly measure: (measurement: Measurement) => void;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
}

export function openAnalyses({ config, store, egress, keys, workflows, measure, clock, logger, registry }: OpenAnalysesOptions): Analyses {
  return {
    activities: createAnalysisActivities({
      store,
      keys,
      defaults: config.PARLEY_PROVIDERS,
      prices: new PriceTable(config.PARLEY_PRICES),
      egress,
      measure,
      clock,
      logger,
      registry,
    }),
    run: (signal) =>
      keepStarting({
        rows: store.calls.analyses,
        intervalMs: 1_000,
        restartAfterMs: 120_000,
        failure: 'failed to start analyses of calls; retrying',
        clock,
        logger,
        signal,
        start: ({ org, id, traceparent }) =>
          continueTrace(traceContextOf(traceparent), () =>
            workflows.start('analyseCall', {
              workflowId: analysisWorkflowId(id),
              taskQueue: analysisQueue(config.TEMPORAL_TASK_QUEUE),
              args: [{ org, callId: id } satisfies AnalysisJob],
              fairnessKey: org,
            }),
          ),
      }),
  };
}
