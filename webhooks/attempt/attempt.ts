/**
 * One attempt to deliver one event to one endpoint: one POST, one clock, one outcome.
 *
 * Many servers close a kept connection right after an answer, or between two. What is lost on it goes out again on a new one: receivers
 * have to know events by their id anyway, and the attempt says that there were two requests.
 */
import { isReservedHeader } from '../../crds/delivery-header.ts';
import { type Clock, systemClock } from '../../platform/clock.ts';
import { fitText } from '../../platform/cut-text.ts';
import type { EgressGuard, EgressResponse } from '../../platform/egress/egress.ts';
import { EgressError, type EgressErrorKind } from '../../platform/egress/egress-error.ts';
import type { TraceContext } from '../../platform/telemetry/trace-context.ts';
import { retryAfterMs } from '../../platform/retry-after.ts';
import { HOUR_MS } from '../../platform/time.ts';
import { sign } from '../signing/sign.ts';
import type { Credentials } from '../subscriptions/credentials.ts';
import type { Endpoint } from '../subscriptions/endpoint.ts';
import type { AttemptOutcome, FailedAttempt, FailureReason, NoFault } from './outcome.ts';

export interface AttemptRequest {
  readonly org: string;
  readonly endpoint: Pick<Endpoint, 'url' | 'timeoutMs'>;
  readonly credentials: Credentials;
  /** `evt_…`: constant over retries and replays. */
  readonly eventId: string;
  /** The bytes that are signed and sent as they are. */
  readonly body: Uint8Array;
  /** Sent in addition to the signed content; a subscription's own header `traceparent` overrides it. */
  readonly trace?: TraceContext | undefined;
}

/** Never rejects: whatever happens is an outcome. */
export type Attempt = (request: AttemptRequest) => Promise<AttemptOutcome>;

export interface AttemptOptions {
  readonly egress: Pick<EgressGuard, 'for' | 'dnsAnswered'>;
  readonly clock?: Clock;
  /** Default `Parley-Webhooks/1.0`. */
  readonly userAgent?: string;
}

/** Bytes of an answer that are read. Its status decides; a body that ends within them leaves a connection for the next attempt. */
const MOST_BODY_BYTES = 4096;

/** Longest wait that an endpoint can ask for by `Retry-After`, in milliseconds. */
const LONGEST_RETRY_AFTER_MS = HOUR_MS;

/** Longest message of an outcome, in characters. */
const LONGEST_MESSAGE = 1024;

const SENT_TWICE = 'sent twice: the endpoint closed the kept connection before its answer';

export function createAttempt(options: AttemptOptions): Attempt {
  const { egress, clock = systemClock, userAgent = 'Parley-Webhooks/1.0' } = options;

  return async ({ org, endpoint, credentials, eventId, body, trace }) => {
    const startedAt = clock.now();
    const begin = clock.monotonic();
    const timing = (): Timing => ({ startedAt, durationMs: Math.round(clock.monotonic() - begin) });
    let repeated = false;
    try {
      const response = await egress.for(org).request({
        url: endpoint.url,
        method: 'POST',
        headers: deliveryHeaders(credentials, { eventId, body, userAgent, startedAt, trace }),
        body,
        timeoutMs: endpoint.timeoutMs,
        maxBodyBytes: MOST_BODY_BYTES,
        overflow: 'truncate',
        statusDecides: true,
        repeatable: true,
        onRepeat: () => (repeated = true),
      });
      return withRepetition(repeated, judge(response, clock.now(), timing()));
    } catch (error) {
      // The time is taken now: what follows may have to wait for DNS.
      const ended = timing();
      const failure = withRepetition(repeated, failedOutcome(error, ended));
      if (!(error instanceof EgressError) || error.kind !== 'timeout' || error.phase !== 'dns') return failure;
      if (await egress.dnsAnswered(begin)) return failure;
      const message = `no DNS server answered within ${endpoint.timeoutMs} ms, so ${error.host} could not be looked up`;
      return { ...ended, succeeded: false, ours: true, reason: 'dns_unavailable', message };
    }
  };
}

interface Timing {
  readonly startedAt: number;
  readonly durationMs: number;
}

/** @throws EgressError `forbidden_header` for one that only a resource older than the rules can have */
function deliveryHeaders(
  credentials: Credentials,
  delivery: {
    readonly eventId: string;
    readonly body: Uint8Array;
    readonly userAgent: string;
    readonly startedAt: number;
    readonly trace: TraceContext | undefined;
  },
): Record<string, string> {
  const timestamp = Math.floor(delivery.startedAt / 1000);
  const reserved = Object.keys(credentials.headers).find(isReservedHeader);
  if (reserved !== undefined) {
    const message = `the header ${reserved} can't be set: Parley sets it itself. Remove it from the subscription`;
    throw new EgressError({ kind: 'forbidden_header', phase: 'check', host: '', message });
  }
  const headers: Record<string, string> = {
    ...credentials.headers,
    'content-type': 'application/json',
    'user-agent': delivery.userAgent,
    'webhook-id': delivery.eventId,
    'webhook-timestamp': String(timestamp),
  };
  const { trace } = delivery;
  if (trace !== undefined && !Object.keys(credentials.headers).some((name) => name.toLowerCase() === 'traceparent')) {
    headers['traceparent'] = trace.traceparent;
    if (trace.tracestate !== undefined) headers['tracestate'] = trace.tracestate;
  }
  if (credentials.keys.length > 0) {
    headers['webhook-signature'] = sign(credentials.keys, { id: delivery.eventId, timestamp, body: delivery.body });
  }
  return headers;
}

function judge(response: EgressResponse, now: number, timing: Timing): AttemptOutcome {
  const { status, url } = response;
  if (status >= 200 && status < 300) return { ...timing, succeeded: true, statusCode: status };
  const host = URL.parse(url)?.host ?? '';
  const retryAfter = status === 429 || status === 503 ? retryAfterMs(response.headers['retry-after'], now) : undefined;
  return {
    ...timing,
    succeeded: false,
    ours: false,
    ...verdictOn(status, host),
    statusCode: status,
    ...(retryAfter !== undefined && { retryAfterMs: Math.min(retryAfter, LONGEST_RETRY_AFTER_MS) }),
  };
}

function verdictOn(status: number, host: string): Pick<FailedAttempt, 'reason' | 'message'> {
  if (status === 410) {
    return { reason: 'gone', message: `${host} answered 410: it wants no events any more. Enable the subscription again when it does` };
  }
  if (status >= 300 && status < 400 && status !== 304) {
    return { reason: 'redirect', message: `${host} answered ${status}: redirects are not followed. Use the address that it leads to` };
  }
  return { reason: 'http_status', message: `${host} answered ${status}; events are taken by any status from 200 to 299` };
}

/** Adds to an outcome that the endpoint may have got the event twice. */
function withRepetition(repeated: boolean, outcome: AttemptOutcome): AttemptOutcome {
  if (!repeated) return outcome;
  return { ...outcome, message: outcome.succeeded ? SENT_TWICE : fitText(`${outcome.message} (${SENT_TWICE})`, LONGEST_MESSAGE) };
}

function failedOutcome(error: unknown, timing: Timing): AttemptOutcome {
  if (!(error instanceof EgressError)) {
    // The guard doesn't know the error: it is a fault of this program, and none of the endpoint.
    return { ...timing, succeeded: false, ours: true, reason: 'local', message: `the request could not be made: ${String(error)}` };
  }
  const message = fitText(error.message, LONGEST_MESSAGE);
  switch (error.kind) {
    case 'dns_unavailable':
    case 'local':
    case 'closed':
      return { ...timing, succeeded: false, ours: true, reason: error.kind, message };
    default:
      return { ...timing, succeeded: false, ours: false, reason: failureReason(error.kind), message };
  }
}

/** Neither redirects nor long bodies are errors to an attempt, so the first two never come. */
function failureReason(kind: Exclude<EgressErrorKind, NoFault>): FailureReason {
  return kind === 'redirect' || kind === 'too_large' ? 'protocol' : kind;
}
