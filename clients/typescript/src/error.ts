/** Reports a failed request in one shape for all groups of the API. */

/** A field of a request that can't be used. */
export interface FieldProblem {
  /** Place of the field, without the part of the request: `llm.model_name`, `page_size`. */
  readonly field: string;
  /** Says what is wrong with it. */
  readonly message: string;
}

interface ParleyErrorOptions {
  readonly status?: number | undefined;
  readonly code: string;
  readonly cure: string;
  readonly fields?: readonly FieldProblem[] | undefined;
  readonly traceId?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly body?: unknown;
  readonly cause?: unknown;
}

/** A request was refused, has failed or got no answer. Retries, where they are safe, have been made. */
export class ParleyError extends Error {
  override readonly name = 'ParleyError';
  /** Status of the answer; undefined where there was none. */
  readonly status: number | undefined;
  /** Code for programs: the answer's own (`not_found`, `CONFLICT`), `validation_failed` for a 422, or `no_answer` and `timeout`. */
  readonly code: string;
  /** Says what to do. */
  readonly cure: string;
  /** Everything that is wrong, for a 422. */
  readonly fields: readonly FieldProblem[];
  /** Id of the trace, which leads to the line in the server's log. */
  readonly traceId: string | undefined;
  /** Time that the server asks to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** The answer's body: parsed JSON, or text. */
  readonly body: unknown;

  constructor(message: string, { status, code, cure, fields = [], traceId, retryAfterMs, body, cause }: ParleyErrorOptions) {
    super(`${message}: ${cure}`, cause === undefined ? {} : { cause });
    this.status = status;
    this.code = code;
    this.cure = cure;
    this.fields = fields;
    this.traceId = traceId;
    this.retryAfterMs = retryAfterMs;
    this.body = body;
  }
}

/** Says what to do about a status where the server's message may not say it. */
const CURES: Readonly<Record<number, string>> = {
  401: 'pass an API key that is valid',
  403: 'use an API key that has the permission',
  404: 'check the id, and that the API key is of the same organisation',
  409: 'read the object, change what conflicts, and send it again',
  412: 'read the object again and send the ETag that it has now',
  422: 'change the fields that are named',
  429: 'send fewer requests at once, or later',
};

/** Failures of webhook routes, of requests that can't be used, and all others have different bodies. */
interface FailureBody {
  readonly error?: unknown;
  readonly type?: unknown;
  readonly message?: unknown;
  readonly detail?: unknown;
}

/** @param asked method and path, for the message; @param body parsed JSON, or text */
export function failureOf(response: Response, body: unknown, asked: string): ParleyError {
  const { status, headers } = response;
  const { error, type, message, detail } = (typeof body === 'object' && body !== null ? body : {}) as FailureBody;
  const fields = Array.isArray(detail) ? detail.map(fieldProblem) : [];
  const said = [message, fields.map(({ field, message: wrong }) => `${field}: ${wrong}`).join('; '), `HTTP ${status}`].find(isText);
  return new ParleyError(`${asked}: ${said}`, {
    status,
    code: [error, type].find(isText) ?? (status === 422 ? 'validation_failed' : `http_${status}`),
    cure: CURES[status] ?? (status >= 500 ? "try again later; the trace id leads to the cause in the server's log" : 'change the request'),
    fields,
    traceId: headers.get('x-trace-id') ?? undefined,
    retryAfterMs: readRetryAfter(headers, Date.now()),
    body,
  });
}

/** Reads `Retry-After`, seconds or a date, in milliseconds. @param now milliseconds since the Unix epoch */
export function readRetryAfter(headers: Headers, now: number): number | undefined {
  const value = headers.get('retry-after');
  if (value === null) return undefined;
  const ms = /^\d+(\.\d+)?$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

function fieldProblem(detail: { readonly loc?: readonly (string | number)[]; readonly msg?: string }): FieldProblem {
  const [part = '', ...path] = detail.loc ?? [];
  return { field: path.length === 0 ? String(part) : path.join('.'), message: detail.msg ?? '' };
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
