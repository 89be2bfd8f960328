/**
 * Checks what a structural schema and CEL can't say about a spec. Pure, shared by the operator (`Accepted`), the facade and `parley
 * explain`.
 * Problems are values: an unsound spec is an ordinary thing.
 */
import { isConnectionHeader } from '../platform/egress/request.ts';
import { isTimeZone } from '../platform/local-time.ts';
import { closedHost, httpAddress } from './address.ts';
import type { AgentSpec } from './agent.ts';
import { pathFault } from './json-path.ts';
import { jsonSchemaFault } from './json-schema.ts';
import type { KnowledgeBaseSpec } from './knowledge-base.ts';
import { redactionProblems } from './redaction.ts';
import { MAP_KEY_LENGTH } from './schema.ts';
import type { SpecProblem } from './spec-problem.ts';
import type { ToolSpec } from './tool.ts';
import { uncallable } from './tool-consistency.ts';
import { unstorable } from './unstorable.ts';

export type { SpecProblem } from './spec-problem.ts';

/** Largest free JSON value (a request body, a JSON Schema, fixed parameters), in bytes of JSON. */
export const MAX_FREE_JSON_BYTES = 32 * 1024;

/** Deepest nesting of a free JSON value; `{}` has depth 1. */
export const MAX_FREE_JSON_DEPTH = 32;

export function agentProblems(spec: AgentSpec): readonly SpecProblem[] {
  return [
    ...languageTag(spec.language, 'spec.language'),
    ...(spec.timeZone === undefined ? [] : timeZone(spec.timeZone, 'spec.timeZone')),
    ...addresses(spec.llm, 'spec.llm'),
    ...addresses(spec.realtime ?? {}, 'spec.realtime'),
    ...addresses(spec.speechToText, 'spec.speechToText'),
    ...addresses(spec.textToSpeech, 'spec.textToSpeech'),
    ...httpAddress(spec.webhookURL, 'spec.webhookURL'),
    ...(spec.dynamicData ?? []).flatMap((lookup, index) => lookupProblems(lookup, `spec.dynamicData[${index}]`)),
    ...judgedAnalysis(spec),
    ...redactionProblems(spec.redaction),
    ...unstorable(spec, 'spec'),
  ];
}

/** A canary is judged by results that can be counted. */
function judgedAnalysis({ release, postCallAnalysis = [] }: AgentSpec): readonly SpecProblem[] {
  const name = release?.canary?.abortOn?.analysis?.name;
  if (name === undefined) return [];
  const path = 'spec.release.canary.abortOn.analysis.name';
  const countable = postCallAnalysis.filter(({ type }) => type === 'Boolean' || type === 'Number').map((item) => item.name);
  if (countable.includes(name)) return [];
  const there = countable.length === 0 ? 'there is none' : `there are ${countable.join(', ')}`;
  return [{ path, message: `names no item of spec.postCallAnalysis whose type is a boolean or a number; ${there}` }];
}

interface Provided {
  readonly baseURL?: string | undefined;
}

function addresses(part: Provided & { readonly fallbacks?: readonly Provided[] | undefined }, path: string): readonly SpecProblem[] {
  return [
    ...httpAddress(part.baseURL, `${path}.baseURL`),
    ...(part.fallbacks ?? []).flatMap(({ baseURL }, index) => httpAddress(baseURL, `${path}.fallbacks[${index}].baseURL`)),
  ];
}

type Lookup = NonNullable<AgentSpec['dynamicData']>[number];

/** Longest value in a query or in the dynamic data of a test, in characters. */
export const LONGEST_QUERY_VALUE = 4096;

function lookupProblems({ url, headers, query = {}, body, response = [] }: Lookup, path: string): readonly SpecProblem[] {
  return [
    ...httpAddress(url, `${path}.url`),
    ...closedHost(url, headers, `${path}.url`),
    ...unsendable(headers, `${path}.headers`),
    ...Object.entries(query).flatMap(([name, value]) => plainValue(name, value, `${path}.query`)),
    ...freeJson(body, `${path}.body`),
    ...response.flatMap((item, index) => {
      const fault = pathFault(item.path);
      return fault === undefined ? [] : [{ path: `${path}.response[${index}].path`, message: fault }];
    }),
  ];
}

/** Checks a value of a query or of dynamic data. */
export function plainValue(name: string, value: unknown, path: string): readonly SpecProblem[] {
  if (Array.from(name).length > MAP_KEY_LENGTH) return [{ path, message: `keys may have at most ${MAP_KEY_LENGTH} characters` }];
  const at = `${path}.${name}`;
  if (typeof value === 'number' || typeof value === 'boolean') return [];
  if (typeof value !== 'string') return [{ path: at, message: 'must be a text, a number or a boolean' }];
  return Array.from(value).length <= LONGEST_QUERY_VALUE
    ? []
    : [{ path: at, message: `may have at most ${LONGEST_QUERY_VALUE} characters` }];
}

export function toolProblems(spec: ToolSpec): readonly SpecProblem[] {
  const { custom, mcp } = spec;
  return [
    ...(mcp === undefined ? [] : mcpProblems(mcp)),
    ...(custom === undefined ? [] : functionProblems(custom)),
    ...httpAddress(custom?.http.url, 'spec.custom.http.url'),
    ...(custom === undefined ? [] : closedHost(custom.http.url, custom.http.headers, 'spec.custom.http.url')),
    ...unsendable(custom?.http.headers, 'spec.custom.http.headers'),
    ...freeJson(custom?.http.fixedParams, 'spec.custom.http.fixedParams'),
    ...freeJson(custom?.http.runtimeParams, 'spec.custom.http.runtimeParams'),
    ...(['bookCalendar', 'checkCalendarAvailability'] as const).flatMap((member) => {
      const calendar = spec[member];
      return calendar === undefined ? [] : timeZone(calendar.timeZone, `spec.${member}.timeZone`);
    }),
    ...unstorable(spec, 'spec'),
  ];
}

/** Skips an unsound schema: it describes nothing. */
function functionProblems(custom: NonNullable<ToolSpec['custom']>): readonly SpecProblem[] {
  const unsound = parameters(custom.function.parameters, 'spec.custom.function.parameters');
  return unsound.length > 0 ? unsound : uncallable(custom);
}

function mcpProblems({ url, oauth, headers = [] }: NonNullable<ToolSpec['mcp']>): readonly SpecProblem[] {
  // No placeholder fills an address: what a call says must not decide where credentials go.
  const withoutPlaceholders = (address: string, path: string): readonly SpecProblem[] =>
    /\{[^{}]*\}/.test(address) ? [{ path, message: 'has a placeholder, which is not filled here: write the whole address out' }] : [];
  const authorization = headers.findIndex(({ name }) => name.toLowerCase() === 'authorization');
  return [
    ...httpAddress(url, 'spec.mcp.url'),
    ...withoutPlaceholders(url, 'spec.mcp.url'),
    ...httpAddress(oauth?.tokenURL, 'spec.mcp.oauth.tokenURL'),
    ...withoutPlaceholders(oauth?.tokenURL ?? '', 'spec.mcp.oauth.tokenURL'),
    ...(oauth !== undefined && authorization >= 0
      ? [{ path: `spec.mcp.headers[${authorization}]`, message: 'is sent by oauth: remove this header, or oauth' }]
      : []),
    ...unsendable(headers, 'spec.mcp.headers'),
    ...headers.flatMap(({ name }, index) =>
      TRANSPORT_HEADERS.test(name)
        ? [{ path: `spec.mcp.headers[${index}].name`, message: `${name} belongs to the protocol: remove this header` }]
        : [],
    ),
  ];
}

/** The protocol's client sets these headers. */
const TRANSPORT_HEADERS = /^(accept|content-type|last-event-id|mcp-.*)$/i;

/** Finds headers that no request of ours can have. */
function unsendable(headers: readonly { readonly name: string }[] = [], path: string): readonly SpecProblem[] {
  return headers.flatMap(({ name }, index) =>
    isConnectionHeader(name) ? [{ path: `${path}[${index}].name`, message: `${name} belongs to the connection: remove this header` }] : [],
  );
}

export function knowledgeBaseProblems(spec: KnowledgeBaseSpec): readonly SpecProblem[] {
  return [...languageTag(spec.documentLanguage, 'spec.documentLanguage'), ...unstorable(spec, 'spec')];
}

/** Checks size and depth of a free JSON value; absent is fine. */
export function freeJson(value: unknown, path: string): readonly SpecProblem[] {
  if (value === undefined) return [];
  // Depth first: serialising something a million levels deep would overflow the stack.
  if (isDeeperThan(value, MAX_FREE_JSON_DEPTH)) return [{ path, message: `is nested more than ${MAX_FREE_JSON_DEPTH} levels deep` }];
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes <= MAX_FREE_JSON_BYTES) return [];
  return [{ path, message: `has ${bytes} bytes of JSON, at most ${MAX_FREE_JSON_BYTES} are allowed` }];
}

/** Checks the JSON Schema of a function's arguments. Every provider wants an object at the top. */
export function parameters(schema: Readonly<Record<string, unknown>> | undefined, path: string): readonly SpecProblem[] {
  if (schema === undefined) return [];
  const tooLarge = freeJson(schema, path);
  if (tooLarge.length > 0) return tooLarge;
  const { type } = schema;
  if (type !== undefined && type !== 'object')
    return [{ path: `${path}.type`, message: 'must be object: a function takes named arguments' }];
  const fault = jsonSchemaFault(schema);
  return fault === undefined ? [] : [{ path, message: `is not a valid JSON Schema: ${fault}` }];
}

/** Checks an IANA name such as `Europe/Berlin`. */
export function timeZone(zone: string, path: string): readonly SpecProblem[] {
  return isTimeZone(zone)
    ? []
    : [{ path, message: `${JSON.stringify(zone)} is not an IANA time zone; use a name like Europe/Berlin or UTC` }];
}

/** Matches tags of a form that is always sound. Asking Intl costs more than all other checks of a spec together. */
const PLAIN_TAG = /^[a-z]{2,3}(-[A-Z]{2})?$/;

/** Checks a BCP 47 tag such as `pt-BR`. */
export function languageTag(tag: string, path: string): readonly SpecProblem[] {
  const sound = PLAIN_TAG.test(tag) || isLanguageTag(tag);
  return sound ? [] : [{ path, message: `${JSON.stringify(tag)} is not a BCP 47 language tag; use one like en-US or pt-BR` }];
}

function isLanguageTag(tag: string): boolean {
  try {
    Intl.getCanonicalLocales(tag);
    return true;
  } catch {
    return false;
  }
}

/** Goes level by level, and never recurses. */
function isDeeperThan(value: unknown, limit: number): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    const containers = level.filter((node): node is object => typeof node === 'object' && node !== null);
    if (depth >= limit) return containers.length > 0;
    level = containers.flatMap((node) => Object.values(node) as unknown[]);
  }
  return false;
}
