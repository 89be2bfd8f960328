/** Gives the webhook routes their own body for failures. A key that is unknown or lacks a permission is answered as everywhere. */
import type { FieldConflict } from './api-error.ts';
import { ApiError, errorStatus, type ErrorCode, type ValidationError } from './api-error.ts';
import type { ValidationIssue } from '../validation/issue.ts';

/** Prefix of all webhook addresses, also of those that don't exist. */
export const WEBHOOK_ROOT = '/v1/public/webhook';

export function isWebhookPath(path: string): boolean {
  return path === WEBHOOK_ROOT || path.startsWith(`${WEBHOOK_ROOT}/`);
}

/** Maps failures to values of `type`: unusable input has one, whether a schema or the API server rejects it. */
export const webhookFailureTypes = {
  bad_request: 'VALIDATION_ERROR',
  not_found: 'NOT_FOUND',
  method_not_allowed: 'METHOD_NOT_ALLOWED',
  request_timeout: 'REQUEST_TIMEOUT',
  conflict: 'CONFLICT',
  precondition_failed: 'PRECONDITION_FAILED',
  payload_too_large: 'PAYLOAD_TOO_LARGE',
  unsupported_media_type: 'UNSUPPORTED_MEDIA_TYPE',
  rate_limited: 'RATE_LIMITED',
  internal_error: 'INTERNAL_ERROR',
  unavailable: 'UNAVAILABLE',
} as const satisfies Partial<Record<ErrorCode, string>>;

export type WebhookFailureCode = keyof typeof webhookFailureTypes;

export interface WebhookFailureBody {
  readonly status: number;
  readonly type: (typeof webhookFailureTypes)[WebhookFailureCode];
  readonly message: string;
  /** Issues by field for a validation, `conflicts` for a conflict of owners, otherwise empty. */
  readonly details: Readonly<Record<string, string | readonly FieldConflict[]>>;
  readonly timestamp: string;
  readonly path: string;
  readonly trace_id: string;
}

/** @returns undefined for a failure that this group answers as all others do */
export function webhookFailure(
  failure: ApiError | ValidationError,
  { url, traceId, now }: { readonly url: string; readonly traceId: string; readonly now: number },
): WebhookFailureBody | undefined {
  const [path = ''] = url.split('?');
  if (!isWebhookPath(path)) return undefined;
  const code = failure instanceof ApiError ? failure.code : 'bad_request';
  if (!isWebhookFailureCode(code)) return undefined;
  const { message, details } = failure instanceof ApiError ? plain(failure) : byField(failure.issues);
  return {
    status: errorStatus[code],
    type: webhookFailureTypes[code],
    message,
    details,
    timestamp: new Date(now).toISOString(),
    path,
    trace_id: traceId,
  };
}

function isWebhookFailureCode(code: ErrorCode): code is WebhookFailureCode {
  return code in webhookFailureTypes;
}

type Explanation = Pick<WebhookFailureBody, 'message' | 'details'>;

function plain({ message, conflicts }: ApiError): Explanation {
  return { message, details: conflicts === undefined || conflicts.length === 0 ? {} : { conflicts } };
}

/** Maps issues by field: `page_size`, `retry_policy.maxRetryAttempts`, `headers.X-Tenant`; `body` stands for the whole body. */
function byField(issues: readonly ValidationIssue[]): Explanation {
  const details = new Map<string, string>();
  for (const issue of issues) {
    const { field, text } = fieldText(issue);
    const known = details.get(field);
    details.set(field, known === undefined ? text : `${known}; ${text}`);
  }
  const [first] = [...details];
  const message =
    details.size === 1 && first !== undefined
      ? `${first[0]}: ${first[1]}`
      : `${details.size} fields of the request can't be used: ${[...details.keys()].join(', ')}; details says why`;
  return { message, details: Object.fromEntries(details) };
}

function fieldText({ type, loc, msg }: ValidationIssue): { readonly field: string; readonly text: string } {
  const [part = 'body', ...steps] = loc;
  if (type === 'json_invalid') return { field: 'body', text: `${msg} at character ${String(steps[0] ?? 0)}` };
  const names = steps.filter((step) => step !== '[key]');
  return { field: names.length === 0 ? String(part) : names.join('.'), text: msg.replace(/^Value error, /, '') };
}
