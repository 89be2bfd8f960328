/**
 * Carries a trace through Temporal: the client that starts a workflow puts it into a header, the workflow hands the header on as it is
 * (see `workflows/tracing/`), and each activity takes it out. The header is the one that Temporal's own packages for OpenTelemetry use, so
 * that workers and clients in other languages read it.
 */
import type { WorkflowClientInterceptor, WorkflowStartInput } from '@temporalio/client';
import { defaultPayloadConverter, type Headers, type Payload } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';

import { traceContextOf, type TraceContext } from '../telemetry/trace-context.ts';
import { inSpan, isTracing } from '../telemetry/tracing.ts';

/** The header's value is an object with `traceparent` and, where there is one, `tracestate`. */
export const TRACE_HEADER = '_tracer-data';

/** Makes clients start workflows in the trace that is current. */
export const tracedStarts: WorkflowClientInterceptor = {
  async startWithDetails(input, next) {
    if (!isTracing()) return next(input);
    return inSpan({ name: `StartWorkflow:${input.workflowType}`, kind: 'client', attributes: attributesOf(input) }, ({ context }) =>
      next({ ...input, headers: { ...input.headers, ...traceHeaders(context) } }),
    );
  },
};

/** Makes workers record a span for each attempt at an activity. */
export const tracedActivities: ActivityInterceptorsFactory = ({ info }) => ({
  inbound: {
    async execute(input, next) {
      if (!isTracing()) return next(input);
      return inSpan(
        {
          name: `RunActivity:${info.activityType}`,
          kind: 'consumer',
          parent: traceIn(input.headers) ?? 'none',
          attributes: {
            temporalWorkflowID: info.workflowExecution?.workflowId,
            temporalRunID: info.workflowExecution?.runId,
            temporalActivityID: info.activityId,
            'parley.activity.attempt': info.attempt,
          },
        },
        () => next(input),
      );
    },
  },
});

const attributesOf = ({ options }: WorkflowStartInput) => ({
  temporalWorkflowID: options.workflowId,
  'parley.task_queue': options.taskQueue,
});

function traceHeaders(trace: TraceContext | undefined): Headers {
  return trace === undefined ? {} : { [TRACE_HEADER]: defaultPayloadConverter.toPayload({ ...trace }) };
}

function traceIn(headers: Headers): TraceContext | undefined {
  const payload: Payload | undefined = headers[TRACE_HEADER];
  if (payload === undefined) return undefined;
  try {
    const carried = defaultPayloadConverter.fromPayload<{ readonly traceparent?: unknown; readonly tracestate?: unknown } | null>(payload);
    return traceContextOf(carried?.traceparent, carried?.tracestate);
  } catch {
    // Another client has written it, in another form.
    return undefined;
  }
}
