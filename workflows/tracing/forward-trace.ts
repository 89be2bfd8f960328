/**
 * Runs in Temporal's sandbox with the workflows and passes on the trace header that a workflow was started with to everything it starts.
 * Only activities make spans: they run once for each attempt, while a workflow's code is replayed.
 */
import type { Headers, WorkflowInterceptorsFactory } from '@temporalio/workflow';

/** The same header as in `platform/temporal/trace.ts`, which the sandbox can't load. */
const TRACE_HEADER = '_tracer-data';

export const interceptors: WorkflowInterceptorsFactory = () => {
  let trace: Headers = {};
  const traced = <I extends { readonly headers: Headers }>(input: I): I => ({ ...input, headers: { ...trace, ...input.headers } });
  return {
    inbound: [
      {
        execute(input, next) {
          const payload = input.headers[TRACE_HEADER];
          if (payload !== undefined) trace = { [TRACE_HEADER]: payload };
          return next(input);
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next(traced(input)),
        scheduleLocalActivity: (input, next) => next(traced(input)),
        startChildWorkflowExecution: (input, next) => next(traced(input)),
        continueAsNew: (input, next) => next(traced(input)),
      },
    ],
  };
};
