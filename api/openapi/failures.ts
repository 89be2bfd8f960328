/** Describes the contract's failures: their bodies, and which route can answer which. */
import { z } from 'zod';

import { errorStatus, type ErrorCode } from '../http/api-error.ts';
import { takesIdempotencyKey } from '../http/idempotency.ts';
import { refusesUnknownQuery } from '../http/read-request.ts';
import type { RouteDescription } from '../http/route.ts';
import { isWebhookPath, webhookFailureTypes, WEBHOOK_ROOT, type WebhookFailureCode } from '../http/webhook-failure.ts';
import type { OpenApiObject, SchemaCollection } from './schemas.ts';

const codes = Object.keys(errorStatus) as [ErrorCode, ...ErrorCode[]];
const message = z.string().describe('For people: what happened, to which thing, and what to do.');

const errorBody = z.object({ error: z.enum(codes).describe('For programs: the kind of failure.'), message }).meta({ id: 'Error' });

const authenticationFailure = z
  .object({
    error: z.enum(['unauthorized', 'forbidden']).describe('`unauthorized`: no valid key; `forbidden`: the key lacks the permission.'),
    message,
    traceId: z.string().describe('The same as in the header `x-trace-id`.'),
  })
  .meta({ id: 'AuthenticationFailure' });

const fieldConflict = z
  .object({
    field: z.string().describe('Its name here (`llm.model_name`), or its path in the resource where it has none here (`.spec.suspend`).'),
    manager: z.string().describe('Who owns it: `kubectl`, `argocd-controller`, …'),
  })
  .meta({ id: 'FieldConflict' });

const conflict = z
  .object({
    error: z.literal('conflict').describe('Always `conflict`.'),
    message,
    conflicts: z.array(fieldConflict).optional().describe('Fields that another field manager owns. `?force=true` takes them over.'),
  })
  .meta({ id: 'Conflict' });

const validationError = z
  .object({
    detail: z
      .array(
        z
          .object({
            type: z.string().describe("pydantic 2's name of the failure."),
            loc: z
              .array(z.union([z.string(), z.int()]))
              .describe('`body`, `query`, `path` or `header`, then names of fields and positions in lists.'),
            msg: z.string().describe('For people: what is wrong with it.'),
          })
          .meta({ id: 'ValidationFailure' }),
      )
      .min(1)
      .describe('Everything that is wrong, each with its place.'),
  })
  .meta({ id: 'ValidationError' });

interface Failure {
  readonly description: string;
  readonly schema: z.ZodType;
  readonly example: unknown;
  readonly headers?: readonly string[];
}

function plain(error: ErrorCode, description: string, text: string, headers?: readonly string[]): Failure {
  return { description, schema: errorBody, example: { error, message: text }, ...(headers && { headers }) };
}

/** Begins the text of every route; the text goes on where uploads are possible. */
const BODY_TOO_LARGE = 'The body has more than 1 MiB or 20,000 values (texts, numbers, objects …)';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';

/** Names a failure; `validation` is the 422, which has no code. */
type FailureName = ErrorCode | 'validation';

const failures: Readonly<Record<FailureName, Failure>> = {
  bad_request: plain(
    'bad_request',
    'The request, or the resource it would make, is refused as a whole.',
    'the resource was refused: spec: Too long',
  ),
  unauthorized: {
    description: 'The API key is missing, unknown, expired or revoked.',
    schema: authenticationFailure,
    example: { error: 'unauthorized', message: 'this API key is not known', traceId: TRACE_ID },
    headers: ['WWW-Authenticate'],
  },
  budget_exceeded: plain(
    'budget_exceeded',
    'The calls of the agent have cost the daily budget that it has (`budget`).',
    'the calls of the agent have cost its daily budget of 25.00 EUR: raise its budget, or try again after 2026-11-25T23:00:00.000Z',
  ),
  forbidden: {
    description: 'The API key lacks the permission.',
    schema: authenticationFailure,
    example: { error: 'forbidden', message: 'this API key lacks the permission agents:write', traceId: TRACE_ID },
  },
  not_found: plain('not_found', 'The same for an unknown id, an impossible one and one of another organisation.', 'AI agent not found'),
  recording_not_found: plain(
    'recording_not_found',
    'The call has no recording, or the address of one is past its time. The same for an unknown call and one of another organisation.',
    'Recording not found',
  ),
  method_not_allowed: plain('method_not_allowed', 'The address exists for other methods.', 'PATCH is not possible here: use GET, PUT'),
  request_timeout: plain(
    'request_timeout',
    'The request took too long to arrive: 10 s for its headers, half a minute for all of it. An upload may take as long as it keeps coming.',
    'the body took too long to arrive',
  ),
  conflict: {
    description: 'Another owner of a field, or the state of the organisation, is in the way. Nothing was written.',
    schema: conflict,
    example: {
      error: 'conflict',
      message: 'llm.model_name belongs to kubectl: change it there, or take it over with ?force=true',
      conflicts: [{ field: 'llm.model_name', manager: 'kubectl' }],
    },
  },
  recording_not_ready: plain('recording_not_ready', 'The call is not over.', 'the call is not over yet'),
  range_not_satisfiable: plain('range_not_satisfiable', 'Nothing of what `Range` asks for exists.', 'the recording has 48213 bytes', [
    'Content-Range',
  ]),
  precondition_failed: plain(
    'precondition_failed',
    'The object is not in the state that `If-Match` names.',
    'the object has changed: its ETag is "1234" now',
    ['ETag'],
  ),
  payload_too_large: plain(
    'payload_too_large',
    `${BODY_TOO_LARGE}, or an uploaded file more than 50 MB.`,
    'the request body is too large: at most 1 MiB is read',
  ),
  unsupported_media_type: plain(
    'unsupported_media_type',
    'The body is no JSON (in an upload: no form) by its `Content-Type`, or an uploaded file is of a kind that is not read.',
    'send the body as application/json',
  ),
  validation: {
    description: 'Everything in the request that can’t be used.',
    schema: validationError,
    example: { detail: [{ type: 'missing', loc: ['body', 'llm', 'model_name'], msg: 'Field required' }] },
  },
  rate_limited: plain(
    'rate_limited',
    'The API key or its organisation has made too many requests.',
    'this API key has made too many requests: 60 a second and 120 at once are possible; see the header Retry-After',
    ['Retry-After', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'RateLimit-Policy'],
  ),
  concurrent_call_limit_reached: plain(
    'concurrent_call_limit_reached',
    'The organisation has as many live calls as it may have, or as many web calls of it, or of the key, wait for their users as may. Or, as `rate_limited`: too many requests.',
    'your organisation has as many live calls as it may have: end one, or try again when one has ended',
    ['Retry-After', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'RateLimit-Policy'],
  ),
  headers_too_large: plain(
    'headers_too_large',
    'Address and headers have more than 16 KiB.',
    'address and headers may have 16 KiB together',
  ),
  internal_error: plain(
    'internal_error',
    'A defect on our side.',
    'something went wrong on our side; the trace id in the header x-trace-id leads to the log line',
  ),
  unavailable: plain(
    'unavailable',
    'The Kubernetes API, the database, a store of files or vectors, or room for another call is unavailable.',
    'the Kubernetes API is not available; try again',
    ['Retry-After'],
  ),
};

const webhookFailure = z
  .object({
    status: z.int().describe('The status of the answer.'),
    type: z.enum([...new Set(Object.values(webhookFailureTypes))] as [string, ...string[]]).describe('For programs: the kind of failure.'),
    message,
    details: z
      .record(z.string(), z.union([z.string(), z.array(fieldConflict)]))
      .describe(
        'Of a `VALIDATION_ERROR` what is wrong, by field (`retry_policy.maxRetryAttempts`; `body` for all of it). Of a `CONFLICT` with other field managers what they own, as `conflicts`. Otherwise empty.',
      ),
    timestamp: z.iso.datetime().describe('When it was answered.'),
    path: z.string().describe('The path that was asked, without its query.'),
    trace_id: z.string().describe('The same as in the header `x-trace-id`.'),
  })
  .meta({ id: 'WebhookFailure' });

/** Describes the failures of the webhook group: the same occasions in a body of its own. */
const webhookFailures: Readonly<Record<WebhookFailureCode, Failure>> = {
  bad_request: inWebhookGroup('bad_request', 'Something in the request can’t be used, or the resource it would make is refused.', {
    text: 'enable_signed_webhooks: Field required',
    details: { enable_signed_webhooks: 'Field required' },
  }),
  not_found: inWebhookGroup('not_found', failures.not_found.description, { text: 'Webhook subscription not found' }),
  method_not_allowed: inWebhookGroup('method_not_allowed', failures.method_not_allowed.description, {
    text: 'PATCH is not possible here: use GET, POST',
  }),
  request_timeout: inWebhookGroup('request_timeout', failures.request_timeout.description),
  conflict: inWebhookGroup(
    'conflict',
    'The name is in use, the subscription is paused or unsigned, or another owner of a field is in the way. Nothing was written.',
    {
      text: 'url is owned by "kubectl"; change it there, or take it over with ?force=true',
      details: { conflicts: [{ field: 'url', manager: 'kubectl' }] },
    },
  ),
  precondition_failed: inWebhookGroup('precondition_failed', failures.precondition_failed.description),
  payload_too_large: inWebhookGroup('payload_too_large', `${BODY_TOO_LARGE}.`),
  unsupported_media_type: inWebhookGroup('unsupported_media_type', 'The body is no JSON by its `Content-Type`.'),
  rate_limited: inWebhookGroup('rate_limited', failures.rate_limited.description),
  internal_error: inWebhookGroup('internal_error', failures.internal_error.description),
  unavailable: inWebhookGroup('unavailable', failures.unavailable.description),
};

function inWebhookGroup(
  code: WebhookFailureCode,
  description: string,
  { text, details = {} }: { readonly text?: string; readonly details?: object } = {},
): Failure {
  const { headers, example } = failures[code];
  return {
    description,
    schema: webhookFailure,
    example: {
      status: errorStatus[code],
      type: webhookFailureTypes[code],
      message: text ?? (example as { readonly message: string }).message,
      details,
      timestamp: '2026-11-21T09:00:00.000Z',
      path: `${WEBHOOK_ROOT}/subscription`,
      trace_id: TRACE_ID,
    },
    ...(headers && { headers }),
  };
}

function httpStatus(name: FailureName): number {
  return name === 'validation' ? 422 : errorStatus[name];
}

/** Returns the failures of a request in addition to the answers of its description, in the order of the statuses. */
export function failuresOf(route: RouteDescription): readonly FailureName[] {
  const names: FailureName[] = ['bad_request', 'request_timeout', 'headers_too_large', ...(route.errors ?? [])];
  if (route.permission !== 'public') names.push('unauthorized', 'forbidden', 'rate_limited', 'internal_error', 'unavailable');
  if (route.params !== undefined) names.push('not_found');
  if (refusesUnknownQuery(route) || route.body !== undefined || route.form !== undefined || route.streamed !== undefined)
    names.push('validation');
  if (route.ifMatch) names.push('precondition_failed');
  if (takesIdempotencyKey(route)) names.push('conflict', 'validation');
  if (route.method !== 'GET') names.push('payload_too_large', 'unsupported_media_type');
  // The webhook group has one failure for all unusable input.
  const named = isWebhookPath(route.path) ? names.map((name) => (name === 'validation' ? 'bad_request' : name)) : names;
  return [...new Set(named)]
    .filter((name) => route.answers[httpStatus(name)] === undefined)
    .toSorted((a, b) => httpStatus(a) - httpStatus(b));
}

const webhookComponent = (name: string): string => `webhook_${name}`;

function componentOf(route: RouteDescription, name: FailureName): string {
  return isWebhookPath(route.path) && name in webhookFailures ? webhookComponent(name) : name;
}

export function failureRefs(route: RouteDescription): OpenApiObject {
  // The route's own failure comes first of two with one status.
  return Object.fromEntries(
    failuresOf(route)
      .toReversed()
      .map((name) => [httpStatus(name), { $ref: `#/components/responses/${componentOf(route, name)}` }]),
  );
}

/** Builds `components.responses`, with those that some route refers to. */
export function failureResponses(routes: readonly RouteDescription[], schemas: SchemaCollection): OpenApiObject {
  const used = new Set(routes.flatMap((route) => failuresOf(route).map((name) => componentOf(route, name))));
  return Object.fromEntries(
    [...Object.entries(failures), ...Object.entries(webhookFailures).map(([name, failure]) => [webhookComponent(name), failure] as const)]
      .filter(([name]) => used.has(name))
      .map(([name, { description, schema, example, headers = [] }]) => [
        name,
        {
          description,
          headers: Object.fromEntries(['X-Trace-Id', ...headers].map((header) => [header, { $ref: `#/components/headers/${header}` }])),
          content: { 'application/json': { schema: schemas.schemaOf(schema, { io: 'output' }), example } },
        },
      ]),
  );
}
