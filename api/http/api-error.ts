import { answerable, type ValidationIssue } from '../validation/issue.ts';

/** Maps the contract's `error` codes to the statuses of their answers. */
export const errorStatus = {
  bad_request: 400,
  unauthorized: 401,
  budget_exceeded: 402,
  forbidden: 403,
  not_found: 404,
  recording_not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  conflict: 409,
  recording_not_ready: 409,
  precondition_failed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  rate_limited: 429,
  concurrent_call_limit_reached: 429,
  headers_too_large: 431,
  internal_error: 500,
  unavailable: 503,
} as const;

export type ErrorCode = keyof typeof errorStatus;

/** A field that another manager owns: that manager has to release it, or `?force=true` takes it. */
export interface FieldConflict {
  /** The REST name (`llm.model_name`), or the resource path (`.spec.suspend`) of a field that REST has no name for. */
  readonly field: string;
  readonly manager: string;
}

export interface ApiErrorOptions {
  readonly conflicts?: readonly FieldConflict[];
  /** In seconds; answered as `Retry-After`. */
  readonly retryAfterSeconds?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** Reports a failure that is answered as `{error, message}`. The message is for the client: it holds no secrets and no internals. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly conflicts: readonly FieldConflict[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, message: string, options: ApiErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.conflicts = options.conflicts;
    this.headers = {
      ...(options.retryAfterSeconds !== undefined && { 'retry-after': String(options.retryAfterSeconds) }),
      ...options.headers,
    };
  }

  get status(): number {
    return errorStatus[this.code];
  }
}

/**
 * Makes the same failure for an id of another organisation, an unknown one and an impossible one.
 * @param what noun for the kind of object, as it begins a sentence
 */
export function notFound(what: string): ApiError {
  return new ApiError('not_found', `${what} not found`);
}

/** Reports issues in a request, answered as 422 `{detail: […]}` with as many of them as one answer names. */
export class ValidationError extends Error {
  override readonly name = 'ValidationError';
  readonly issues: readonly ValidationIssue[];

  constructor(issues: readonly ValidationIssue[]) {
    super(`${issues.length} part${issues.length === 1 ? '' : 's'} of the request can't be used`);
    this.issues = answerable(issues);
  }
}

/** @throws ValidationError where there are any */
export function requireNoIssues(issues: readonly ValidationIssue[]): void {
  if (issues.length > 0) throw new ValidationError(issues);
}
