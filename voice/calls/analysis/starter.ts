/**
 * Starts the analyses that are due. The SQL trigger `calls_are_analysed` (store/migrations/0012_call_analysis.sql) adds a call's row in the transaction
 * that ends the call, and the row stays until there is an outcome: whatever dies in between, a worker finds the row here and starts it again.
 */
import { sleep, type Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/logging.ts';
import { traceContextOf } from '../../../platform/telemetry/trace-context.ts';
import { continueTrace } from '../../../platform/telemetry/tracing.ts';
import type { CallStore } from '../../../store/index.ts';
import type { AnalysisJobs } from './jobs.ts';

/** Between two looks, in milliseconds. */
const everyMs = 1_000;
/** After a look that failed; doubled each time, up to the other. In milliseconds. */
const longestWaitMs = 15_000;
/** What was begun and has no outcome after this is begun again: Temporal knows whether it still runs. In milliseconds. */
const lookAgainInMs = 120_000;
const atOnce = 100;

export interface AnalysisStarterOptions {
  readonly analyses: Pick<CallStore['analyses'], 'due' | 'begun'>;
  readonly jobs: Pick<AnalysisJobs, 'analyse'>;
  readonly clock: Clock;
  /** 0 ≤ x < 1 */
  readonly random: () => number;
  readonly logger: Logger;
}

/** Looks until the signal aborts. Several may look side by side. */
export async function keepStartingAnalyses(options: AnalysisStarterOptions, signal: AbortSignal): Promise<void> {
  const { clock, random, logger } = options;
  let failures = 0;
  while (!signal.aborted) {
    let begun = 0;
    try {
      begun = await startDue(options, signal);
      failures = 0;
    } catch (err) {
      // Said once for each time that it is away.
      if (failures === 0) logger.warn({ err }, 'failed to start analyses of calls; retrying');
      failures += 1;
    }
    if (begun === atOnce) continue;
    const waitMs = Math.min(everyMs * 2 ** failures, longestWaitMs) * (0.75 + random() / 2);
    await sleep(clock, waitMs, signal).catch(() => undefined);
  }
}

async function startDue({ analyses, jobs }: AnalysisStarterOptions, signal: AbortSignal): Promise<number> {
  const due = await analyses.due({ limit: atOnce });
  for (const { org, id, traceparent } of due) {
    if (signal.aborted) break;
    await continueTrace(traceContextOf(traceparent), () => jobs.analyse({ org, callId: id }));
    await analyses.begun({ org, id, lookAgainInMs });
  }
  return due.length;
}
