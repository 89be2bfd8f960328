/** One attempt as a span of its event's trace, which the receiver may continue. */
import { traceContextOf, type SpanReference } from '../../platform/telemetry/trace-context.ts';
import { isTracing, startSpan } from '../../platform/telemetry/tracing.ts';
import type { ClaimedDelivery } from '../../store/webhooks/types.ts';
import { deliveryIdText, eventIdOf } from '../../events/envelope.ts';
import type { Credentials } from '../subscriptions/credentials.ts';
import type { Endpoint } from '../subscriptions/endpoint.ts';
import type { Attempt } from './attempt.ts';
import type { AttemptOutcome } from './outcome.ts';

export interface TracedAttempt {
  readonly outcome: AttemptOutcome;
  /** The span for the log line of the attempt; undefined where nothing is traced. */
  readonly span: SpanReference | undefined;
}

/** Never rejects, as {@link Attempt} doesn't. */
export async function attemptDelivery(
  attempt: Attempt,
  {
    delivery,
    endpoint,
    credentials,
  }: { readonly delivery: ClaimedDelivery; readonly endpoint: Endpoint; readonly credentials: Credentials },
): Promise<TracedAttempt> {
  const request = { org: delivery.org, endpoint, credentials, eventId: eventIdOf(delivery.eventId), body: delivery.body };
  const origin = traceContextOf(delivery.traceparent);
  if (!isTracing()) return { outcome: await attempt({ ...request, trace: origin }), span: undefined };
  const span = startSpan({
    name: `deliver ${delivery.eventName}`,
    kind: 'client',
    parent: origin ?? 'none',
    attributes: {
      'http.request.method': 'POST',
      'server.address': URL.parse(endpoint.url)?.hostname,
      'parley.org': delivery.org,
      'parley.event': request.eventId,
      'parley.delivery': deliveryIdText(delivery.id),
      'parley.subscription': endpoint.name,
      'parley.attempt': delivery.attempts + 1,
    },
  });
  const outcome = await attempt({ ...request, trace: span.context });
  if (!outcome.succeeded) span.fail(outcome.reason);
  if (!('ours' in outcome && outcome.ours)) span.set({ 'http.response.status_code': outcome.statusCode });
  span.end();
  return { outcome, span: span.reference };
}
