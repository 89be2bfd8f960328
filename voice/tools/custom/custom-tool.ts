/** Makes a custom tool: a function for the model, and its HTTP request. */
import { type DynamicData, fillTemplate, fillValue, lookUp, formatValue } from '../../../crds/template.ts';
import { isBodyless } from '../../../crds/http-method.ts';
import { millisecondsOf } from '../../../crds/duration.ts';
import type { ToolSpec } from '../../../crds/index.ts';
import type { Egress, EgressRequest } from '../../../platform/egress/egress.ts';
import { createArgumentCheck } from '../arguments.ts';
import { fillAddress, queryNames, withQuery } from '../http/address.ts';
import { parseJson } from '../http/json.ts';
import { readHeaders, type ReadSecret, withDefaults } from '../http/headers.ts';
import { type Arguments, failure, type JsonValue, type ToolDefinition, type ToolMessages, type ToolResult } from '../tool-result.ts';
import { EgressError } from '../../../platform/egress/egress-error.ts';
import { type Answer, MAX_ANSWER_BYTES, readAnswer } from '../http/answer.ts';
import { MISCONFIGURED, withoutInternals, wordsOfFailure } from '../http/failure-words.ts';
import type { Redaction } from '../http/redaction.ts';

export type CustomSpec = NonNullable<ToolSpec['custom']>;

type RuntimeParam = NonNullable<CustomSpec['http']['runtimeParams']>[string];

export interface CustomToolOptions {
  readonly custom: CustomSpec;
  readonly messages: ToolMessages;
  /** The description of the resource; the model gets it where the function has none. */
  readonly note?: string | undefined;
  readonly data: DynamicData;
  readonly egress: Egress;
  readonly readSecret: ReadSecret;
}

const USER_AGENT = 'Parley-Tools/1.0';

export function createCustomTool({ custom, messages, note, data, egress, readSecret }: CustomToolOptions): ToolDefinition {
  const { function: fn, http } = custom;
  const given = givenParameters(http, data);
  const parameters = fn.parameters ?? { type: 'object', properties: {} };
  const check = createArgumentCheck(parameters, new Set(given.keys()));
  return {
    name: fn.name,
    description: fillTemplate(fn.description ?? note ?? '', data),
    parameters: 'type' in parameters ? parameters : { type: 'object', ...parameters },
    messages,
    refuse: (args) => check(forCheck(args, given, parameters)),

    async run(args, signal) {
      const missing = Object.entries(http.runtimeParams ?? {}).filter(([name, { required }]) => required && isUnset(given.get(name)));
      if (missing.length > 0) {
        const names = missing.map(([name]) => JSON.stringify(name)).join(', ');
        return failure(`Nothing was sent: the call has no value for ${names}.`, {}, 'missing_runtime_parameter');
      }
      const values = merged(args, given);
      const address = fillAddress(http.url, { data, parameters: values, headers: http.headers });
      if ('problem' in address) return failure(`Nothing was sent: ${address.problem}.`, {}, 'incomplete_address');
      const { headers, redaction } = await readHeaders(http.headers ?? [], data, readSecret);
      const rest = Object.fromEntries(Object.entries(values).filter(([name]) => !address.used.has(name)));
      const inQuery = isBodyless(http.method);
      return callEndpoint(egress, {
        request: {
          method: http.method,
          // The query of the address is the owner's, as fixed parameters are.
          url: inQuery ? withQuery(address.url, rest, { keep: notGiven(queryNames(address.url), given) }) : address.url,
          headers: withDefaults(headers, {
            accept: 'application/json, text/*;q=0.9, */*;q=0.1',
            'user-agent': USER_AGENT,
            ...(!inQuery && { 'content-type': 'application/json' }),
          }),
          ...(!inQuery && { body: JSON.stringify(rest) }),
          timeoutMs: millisecondsOf(http.timeout),
        },
        redaction,
        signal,
      });
    },
  };
}

/** Values of parameters that the owner decides and the model doesn't. Undefined: it has no value, and the model may not give one. */
type Given = ReadonlyMap<string, unknown>;

/**
 * Returns the given parameters. Fixed ones win over those of the call. A runtime parameter without a value takes the call's data of its
 * name.
 */
function givenParameters({ fixedParams = {}, runtimeParams = {} }: CustomSpec['http'], data: DynamicData): Given {
  return new Map([
    ...Object.entries(runtimeParams).map(
      ([name, { value, type }]) => [name, asType(value === undefined ? lookUp(name, data) : fillValue(value, data), type)] as const,
    ),
    ...Object.entries(fixedParams).map(([name, { value }]) => [name, fillValue(value, data)] as const),
  ]);
}

function isUnset(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

/** Converts a text that parses as `type`; any other value stays. */
function asType(value: unknown, type: RuntimeParam['type']): unknown {
  if (type === 'string') return isUnset(value) || typeof value === 'string' ? value : formatValue(value);
  if (typeof value !== 'string' || type === undefined) return value;
  const read = parseJson(value);
  const fits = type === 'array' ? Array.isArray(read) : type === 'integer' ? Number.isSafeInteger(read) : typeof read === type;
  return fits && !(type === 'object' && (read === null || Array.isArray(read))) ? read : value;
}

function merged(args: Arguments, given: Given): Arguments {
  return Object.fromEntries([
    ...Object.entries(args).filter(([name]) => !given.has(name)),
    ...[...given].filter(([, value]) => value !== undefined),
  ]);
}

/** Returns the arguments with the given values that the schema names, and without the model's own values for them. */
function forCheck(args: Arguments, given: Given, schema: Readonly<Record<string, unknown>>): Arguments {
  const { properties } = schema;
  const known = typeof properties === 'object' && properties !== null ? properties : {};
  return merged(args, new Map([...given].map(([name, value]) => [name, Object.hasOwn(known, name) ? value : undefined])));
}

function notGiven(names: ReadonlySet<string>, given: Given): ReadonlySet<string> {
  return new Set([...names].filter((name) => !given.has(name)));
}

interface EndpointCall {
  readonly request: Pick<EgressRequest, 'url' | 'method' | 'headers' | 'body' | 'timeoutMs'>;
  readonly redaction: Redaction;
  readonly signal: AbortSignal;
}

/** Calls the endpoint. Rejects only with the signal's own reason. */
async function callEndpoint(egress: Egress, { request, redaction, signal }: EndpointCall): Promise<ToolResult> {
  let response;
  try {
    response = await egress.request({ ...request, maxBodyBytes: MAX_ANSWER_BYTES, overflow: 'truncate', signal });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof EgressError) return failure(wordsOfFailure(error), {}, error.kind, redaction.text(error.message));
    throw error;
  }
  const { status } = response;
  const host = URL.parse(response.url)?.host ?? '';
  const answer = await readAnswer(response, redaction);
  const failed = (words: string, detail: string, why: string, more: { readonly [key: string]: JsonValue } = {}): ToolResult =>
    failure(words, { status, ...more }, detail, redaction.text(`${host} ${why}`));
  if (status >= 300 && status < 400) return failed(MISCONFIGURED, `http_${status}`, 'redirects, and redirects are not followed');
  if (status < 200 || status >= 500) return failed('The service has a problem at the moment.', `http_${status}`, `answered ${status}`);
  if (status >= 400) {
    // JSON or plain text says what a caller can correct; a page is for people who look at it.
    const said = isPage(response.headers['content-type']) ? {} : shown(answer);
    return failed('The service has refused the request.', `http_${status}`, `answered ${status}`, withoutInternals(said, host));
  }
  const taken = "The service has taken the request, but its answer can't be used.";
  if (answer.kind === 'unreadable') return failed(taken, 'unreadable', answer.why);
  if (answer.kind === 'text' && answer.broken) return failed(taken, 'invalid_json', 'answered with broken JSON', shown(answer));
  return { succeeded: true, forModel: successful(answer, status), detail: `http_${status}` };
}

const isPage = (type: string | readonly string[] | undefined): boolean => /^text\/html\b/i.test(String(type ?? ''));

const CUT_NOTE = 'The answer was longer: only its beginning is shown, the rest was cut off.';

function successful(answer: Answer, status: number): JsonValue {
  if (answer.kind === 'json') return answer.value;
  if (answer.kind === 'text') return answer.cut ? { note: CUT_NOTE, ...shown(answer) } : answer.text;
  return { status, note: 'Done; the answer has no content.' };
}

function shown(answer: Answer): { readonly [key: string]: JsonValue } {
  if (answer.kind === 'json') return { answer: answer.value };
  if (answer.kind === 'text') return { answer: answer.text, ...(answer.cut && { note: CUT_NOTE }) };
  return {};
}
