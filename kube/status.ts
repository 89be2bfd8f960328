import { KubeError, type StatusCause } from './error.ts';

/** `metav1.Status`, as far as it is read. */
interface StatusAnswer {
  readonly kind?: string;
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: {
    readonly retryAfterSeconds?: number;
    readonly causes?: readonly { readonly reason?: string; readonly field?: string; readonly message?: string }[];
  };
}

/** What a code stands for where the answer doesn't say, e.g. one from a proxy. */
const reasons: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  409: 'Conflict',
  410: 'Expired',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

export interface AnswerOptions {
  /** HTTP status. */
  readonly code: number;
  /** Body, as text; a `Status` or whatever a proxy made of it. */
  readonly text: string;
  /** Value of the `Retry-After` header. */
  readonly retryAfter?: string | undefined;
  /** e.g. `PATCH /api/v1/…`, for answers that don't speak for themselves. */
  readonly request: string;
}

/** A refusal of the API server as an error. */
export function errorFromAnswer(options: AnswerOptions): KubeError {
  return errorFromStatus(parseStatus(options.text), options);
}

/** The object of an in-stream ERROR event as an error. */
export function errorFromEvent(object: unknown, request: string): KubeError {
  const status = isStatus(object) ? object : {};
  return errorFromStatus(status, { code: status.code ?? 500, text: JSON.stringify(object), request });
}

function errorFromStatus(status: StatusAnswer, options: AnswerOptions): KubeError {
  const message = status.message ?? `${options.request} was answered with ${options.code}: ${options.text.slice(0, 200).trim() || '(empty)'}`;
  const schema = schemaCause(options.code, message);
  if (schema !== undefined) return new KubeError({ code: 400, reason: 'BadRequest', message, causes: [schema] });
  const causes = (status.details?.causes ?? [])
    .map((cause) => ({ reason: cause.reason ?? '', field: cause.field ?? '', message: withoutNoise(cause.message ?? '') }))
    .filter((cause) => !isNoise(cause));
  const retryAfterMs = retryAfter(options.retryAfter) ?? (status.details?.retryAfterSeconds === undefined ? undefined : status.details.retryAfterSeconds * 1000);
  return new KubeError({
    code: options.code,
    reason: status.reason || (reasons[options.code] ?? `Http${options.code}`),
    message: withoutNoiseCause(message),
    causes,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

function parseStatus(text: string): StatusAnswer {
  try {
    const value: unknown = JSON.parse(text);
    return isStatus(value) ? value : {};
  } catch {
    return {};
  }
}

function isStatus(value: unknown): value is StatusAnswer {
  return typeof value === 'object' && value !== null && (value as StatusAnswer).kind === 'Status';
}

/** Seconds, as the API server sends it; a date (from a proxy) is not worth a clock. */
function retryAfter(value: string | undefined): number | undefined {
  return value !== undefined && /^\d{1,6}$/.test(value) ? Number(value) * 1000 : undefined;
}

/**
 * An apply that doesn't fit the schema is answered with a bare 500 by servers that validate it while they merge:
 * `failed to create typed patch object (ns/name; v1, Kind=X): .spec.y: field not declared in schema`. It is the caller's mistake.
 */
function schemaCause(code: number, message: string): StatusCause | undefined {
  if (code !== 500) return undefined;
  const match = /failed to create typed (?:patch|live|new)? ?object \([^)]*\): (?:errors:\s*)?(\.?[^\s:]+): ([^\n]+)/.exec(message);
  if (match === null) return undefined;
  const [, field = '', text = ''] = match;
  return { reason: text.includes('not declared in schema') ? 'UnknownField' : 'FieldValueTypeInvalid', field: field.replace(/^\./, ''), message: text };
}

const noise = 'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

function isNoise(cause: StatusCause): boolean {
  return cause.field === '<nil>' && cause.message.endsWith(noise);
}

function withoutNoiseCause(message: string): string {
  return message.replace(`, <nil>: Invalid value: null: ${noise}`, '').replace(`, <nil>: Invalid value: "null": ${noise}`, '');
}

/** `Invalid value: "object": must be …`: the type in quotes says nothing; a quoted value is kept out too, as it may be long or secret. */
function withoutNoise(message: string): string {
  return message.replace(/^Invalid value: (?:"(?:[^"\\]|\\.)*": |(?:null|object|array|true|false|-?[\d.]+): )?/, '');
}
