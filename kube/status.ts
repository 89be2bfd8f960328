import { parseJson } from '../platform/json.ts';
import { retryAfterMs as parseRetryAfter } from '../platform/retry-after.ts';
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

/** The reason of a code where the answer has none, e.g. one from a proxy. */
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
  readonly retryAfter?: string | undefined;
  /** The request, e.g. `PATCH /api/v1/…`, for answers that don't speak for themselves. */
  readonly request: string;
}

export function errorFromAnswer(options: AnswerOptions): KubeError {
  return errorFromStatus(parseStatus(options.text), options);
}

export function errorFromEvent(object: unknown, request: string): KubeError {
  const status = isStatus(object) ? object : {};
  return errorFromStatus(status, { code: status.code ?? 500, text: JSON.stringify(object), request });
}

function errorFromStatus(status: StatusAnswer, options: AnswerOptions): KubeError {
  const text =
    status.message ??
    `${options.request} was answered with ${options.code}: ${options.text.slice(0, 200).trim() || '(empty)'}${hint(options.code)}`;
  const schema = schemaCauses(options.code, text);
  if (schema !== undefined) return new KubeError({ code: 400, reason: 'BadRequest', ...schema });
  const causes = (status.details?.causes ?? [])
    .map((cause) => ({ reason: cause.reason ?? '', field: cause.field ?? '', message: withoutValue(cause.message ?? '') }))
    .filter((cause) => !isNoise(cause))
    // What the server validates twice, e.g. metadata of an update, it reports twice.
    .filter((cause, index, all) => all.findIndex((other) => other.field === cause.field && other.message === cause.message) === index);
  if (causes.some((cause) => cause.field === 'metadata.uid' && cause.message === 'field is immutable')) {
    const message = 'the object was deleted and another one of its name created since it was read; read it again';
    return new KubeError({ code: 409, reason: 'Conflict', message });
  }
  const retryAfterMs =
    parseRetryAfter(options.retryAfter, Date.now()) ??
    (status.details?.retryAfterSeconds === undefined ? undefined : status.details.retryAfterSeconds * 1000);
  return new KubeError({
    code: options.code,
    reason: status.reason || (reasons[options.code] ?? `Http${options.code}`),
    message: withoutNoiseCause(text),
    causes,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(status.kind === undefined ? { body: options.text } : {}),
  });
}

function hint(code: number): string {
  return code === 404 ? ' (is the resource definition installed, in this version?)' : '';
}

function parseStatus(text: string): StatusAnswer {
  const value = parseJson(text);
  return isStatus(value) ? value : {};
}

function isStatus(value: unknown): value is StatusAnswer {
  return typeof value === 'object' && value !== null && (value as StatusAnswer).kind === 'Status';
}

/**
 * An apply that doesn't fit the schema is answered with a bare 500:
 * `failed to create typed patch object (ns/name; v1, Kind=X): .spec.y: field not declared in schema`, or with `errors:` and a line
 * for each. A strict create or update is answered with a 400 whose message alone names the fields. Both are the caller's mistake.
 */
function schemaCauses(code: number, message: string): { readonly message: string; readonly causes: readonly StatusCause[] } | undefined {
  const apply = code === 500 ? /^failed to create typed patch object \([^)]*\): (.*)$/s.exec(message) : null;
  if (apply !== null) {
    const causes = [...(apply[1] ?? '').matchAll(/^\s*(\.[^\n]*?): ([^\n]+)$/gm)].map(([, field = '', problem = '']) => ({
      reason: problem.startsWith('field not declared') ? 'UnknownField' : 'FieldValueTypeInvalid',
      field: field.slice(1),
      // `expected string, got &value.valueUnstructured{Value:5}`: the server's own types, and the value, which may be a secret.
      message: problem.replace(/, got .*$/, ''),
    }));
    if (causes.length > 0)
      return {
        message: `the object does not fit its schema: ${causes.map((cause) => `${cause.field}: ${cause.message}`).join('; ')}`,
        causes,
      };
    return { message, causes };
  }
  if (code !== 400 || !message.includes('strict decoding error')) return undefined;
  const unknown = [...message.matchAll(/unknown field "([^"]+)"/g)].map(([, field = '']) => ({
    reason: 'UnknownField',
    field,
    message: 'field not declared in schema',
  }));
  return { message, causes: unknown };
}

const NOISE = 'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

function isNoise(cause: StatusCause): boolean {
  return cause.field === '<nil>' && cause.message.endsWith(NOISE);
}

/** `X "a" is invalid: [spec.title: Too long: …, <nil>: Invalid value: null: some validation rules …]` */
function withoutNoiseCause(message: string): string {
  const end = `, <nil>: Invalid value: null: ${NOISE}]`;
  return message.endsWith(end) ? message.slice(0, -end.length).replace(' is invalid: [', ' is invalid: ') : message;
}

/** `Invalid value: "object": must be …`: the type or value in front says nothing that `field` doesn't, and may be long or secret. */
function withoutValue(message: string): string {
  return message.replace(/^Invalid value: (?:"(?:[^"\\]|\\.)*": |(?:null|true|false|-?[\d.]+|\{[^}]*\}|\[[^\]]*\]): )?/, '');
}
