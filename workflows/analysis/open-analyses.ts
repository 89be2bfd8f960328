/**
 * What the worker needs to analyse calls.
 *
 * The row of an analysis is written by SQL: the trigger `calls_are_analysed` (store/migrations/0012_call_analysis.sql) inserts it in the
 * transaction that ends a call. `keepStartingAnalyses` finds it and starts the workflow `analyseCall`.
 */
import type { Registry } from 'prom-client';

import { keepStartingAnalyses } from '../../voice/calls/analysis/starter.ts';
import { createProviderKeyReader, ProviderKeyError, type ProviderKeyReader } from '../../voice/calls/provider-access/index.ts';
import { createTransport, kubeConfigOf } from '../../kube/index.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Config } from '../../platform/config/config.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import type { Logger } from '../../platform/logging.ts';
import { temporalOf } from '../../platform/temporal/access.ts';
import { WorkflowStarter } from '../../platform/temporal/workflow-starter.ts';
import type { Store } from '../../store/index.ts';
import { createAnalysisActivities } from './activities.ts';
import type { AnalysisActivities } from './types.ts';

export interface Analyses {
  readonly activities: AnalysisActivities;
  /** Starts the analyses that are due, until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface OpenAnalysesOptions {
  readonly config: Config;
  readonly store: Pick<Store, 'calls' | 'agentRevisions'>;
  readonly egress: Pick<Egress, 'dispatcher'>;
  /** Whether KUBECONFIG is set: without it, only models whose key the operator has set can be asked. */
  readonly knowsCluster: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
}

/**
 * Connects to nothing before it is used.
 *
 * @throws ConfigError for a kubeconfig that can't be used
 */
export function openAnalyses({ config, store, egress, knowsCluster, clock, logger, registry }: OpenAnalysesOptions): Analyses {
  const transport = knowsCluster ? createTransport({ kubeConfig: kubeConfigOf(config), logger }) : undefined;
  const keys = transport === undefined ? noKeys : createProviderKeyReader({ transport, clock });
  const workflows = new WorkflowStarter({ ...temporalOf(config), logger });
  const starting = { analyses: store.calls.analyses, workflows, taskQueue: config.TEMPORAL_TASK_QUEUE, clock, random: Math.random, logger };
  return {
    activities: createAnalysisActivities({ store, keys, defaults: config.PARLEY_PROVIDERS, egress, clock, logger, registry }),
    run: (signal) => keepStartingAnalyses(starting, signal),
    async close() {
      await Promise.all([workflows.close(), transport?.close()]);
    },
  };
}

/** Another worker may know more: it is tried again there. */
const noKeys: ProviderKeyReader = {
  read(org, { name }) {
    const message = `Secret ${org}/${name} can't be read: KUBECONFIG is not set for this worker`;
    return Promise.reject(new ProviderKeyError('unavailable', message));
  },
};
