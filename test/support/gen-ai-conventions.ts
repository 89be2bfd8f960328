/**
 * States what OpenTelemetry's conventions for generative AI ask of the spans that Parley has. It is written from version 1.41.1 of the
 * conventions, of which the package has the names and values; `scripts/check-gen-ai-conventions.ts` compares all of it with the published
 * model.
 */
import * as semconv from '@opentelemetry/semantic-conventions/incubating';

import { SCHEMA_URL } from '../../platform/telemetry/gen-ai/conventions.ts';
import type { ReceivedSpan } from './otlp-receiver.ts';

export const CONVENTIONS_VERSION = '1.41.1';

/** `conditional` means required where it applies, as the text of the conventions says. */
export type RequirementLevel = 'required' | 'conditional' | 'recommended' | 'opt_in';
export type AttributeType = 'string' | 'int' | 'double' | 'boolean' | 'string[]' | 'any';

export interface SpanConvention {
  /** Id in the published model. */
  readonly id: string;
  /** Kind as OTLP numbers it: 1 internal, 3 client. */
  readonly kind: 1 | 3;
  /** Attribute that follows the operation in the name of the span. */
  readonly namedAfter: string;
  readonly attributes: Readonly<Record<string, RequirementLevel>>;
}

const COMMON = {
  [semconv.ATTR_GEN_AI_OPERATION_NAME]: 'required',
  [semconv.ATTR_GEN_AI_REQUEST_MODEL]: 'conditional',
  [semconv.ATTR_ERROR_TYPE]: 'conditional',
} as const;
const SERVER = { [semconv.ATTR_SERVER_ADDRESS]: 'recommended', [semconv.ATTR_SERVER_PORT]: 'conditional' } as const;
const REQUEST = {
  [semconv.ATTR_GEN_AI_REQUEST_MAX_TOKENS]: 'recommended',
  [semconv.ATTR_GEN_AI_REQUEST_CHOICE_COUNT]: 'conditional',
  [semconv.ATTR_GEN_AI_REQUEST_TEMPERATURE]: 'recommended',
  [semconv.ATTR_GEN_AI_REQUEST_TOP_P]: 'recommended',
  [semconv.ATTR_GEN_AI_REQUEST_STOP_SEQUENCES]: 'recommended',
  [semconv.ATTR_GEN_AI_REQUEST_FREQUENCY_PENALTY]: 'recommended',
  [semconv.ATTR_GEN_AI_REQUEST_PRESENCE_PENALTY]: 'recommended',
  [semconv.ATTR_GEN_AI_REQUEST_SEED]: 'conditional',
  [semconv.ATTR_GEN_AI_OUTPUT_TYPE]: 'conditional',
  [semconv.ATTR_GEN_AI_RESPONSE_FINISH_REASONS]: 'recommended',
  [semconv.ATTR_GEN_AI_USAGE_INPUT_TOKENS]: 'recommended',
  [semconv.ATTR_GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS]: 'recommended',
  [semconv.ATTR_GEN_AI_USAGE_CACHE_CREATION_INPUT_TOKENS]: 'recommended',
  [semconv.ATTR_GEN_AI_USAGE_OUTPUT_TOKENS]: 'recommended',
  [semconv.ATTR_GEN_AI_CONVERSATION_ID]: 'conditional',
  [semconv.ATTR_GEN_AI_SYSTEM_INSTRUCTIONS]: 'opt_in',
  [semconv.ATTR_GEN_AI_INPUT_MESSAGES]: 'opt_in',
  [semconv.ATTR_GEN_AI_OUTPUT_MESSAGES]: 'opt_in',
  [semconv.ATTR_GEN_AI_TOOL_DEFINITIONS]: 'opt_in',
} as const;

const INFERENCE: SpanConvention = {
  id: 'span.gen_ai.inference.client',
  kind: 3,
  namedAfter: semconv.ATTR_GEN_AI_REQUEST_MODEL,
  attributes: {
    ...COMMON,
    ...SERVER,
    ...REQUEST,
    [semconv.ATTR_GEN_AI_PROVIDER_NAME]: 'required',
    [semconv.ATTR_GEN_AI_REQUEST_STREAM]: 'conditional',
    [semconv.ATTR_GEN_AI_REQUEST_TOP_K]: 'recommended',
    [semconv.ATTR_GEN_AI_RESPONSE_ID]: 'recommended',
    [semconv.ATTR_GEN_AI_RESPONSE_MODEL]: 'recommended',
    [semconv.ATTR_GEN_AI_RESPONSE_TIME_TO_FIRST_CHUNK]: 'recommended',
    [semconv.ATTR_GEN_AI_USAGE_REASONING_OUTPUT_TOKENS]: 'recommended',
  },
};

/** Conventions by operation. Speech is inference with an operation of one's own, which the conventions allow. */
export const SPANS: Readonly<Record<string, SpanConvention>> = {
  [semconv.GEN_AI_OPERATION_NAME_VALUE_CHAT]: INFERENCE,
  speech_to_text: INFERENCE,
  text_to_speech: INFERENCE,
  [semconv.GEN_AI_OPERATION_NAME_VALUE_INVOKE_AGENT]: {
    id: 'span.gen_ai.invoke_agent.internal',
    kind: 1,
    namedAfter: semconv.ATTR_GEN_AI_AGENT_NAME,
    attributes: {
      ...COMMON,
      ...REQUEST,
      [semconv.ATTR_GEN_AI_PROVIDER_NAME]: 'required',
      [semconv.ATTR_GEN_AI_AGENT_ID]: 'conditional',
      [semconv.ATTR_GEN_AI_AGENT_NAME]: 'conditional',
      [semconv.ATTR_GEN_AI_AGENT_DESCRIPTION]: 'conditional',
      [semconv.ATTR_GEN_AI_AGENT_VERSION]: 'conditional',
      [semconv.ATTR_GEN_AI_DATA_SOURCE_ID]: 'conditional',
    },
  },
  [semconv.GEN_AI_OPERATION_NAME_VALUE_EXECUTE_TOOL]: {
    id: 'span.gen_ai.execute_tool.internal',
    kind: 1,
    namedAfter: semconv.ATTR_GEN_AI_TOOL_NAME,
    attributes: {
      [semconv.ATTR_GEN_AI_OPERATION_NAME]: 'required',
      [semconv.ATTR_ERROR_TYPE]: 'conditional',
      [semconv.ATTR_GEN_AI_TOOL_NAME]: 'required',
      [semconv.ATTR_GEN_AI_TOOL_CALL_ID]: 'recommended',
      [semconv.ATTR_GEN_AI_TOOL_DESCRIPTION]: 'recommended',
      [semconv.ATTR_GEN_AI_TOOL_TYPE]: 'recommended',
      [semconv.ATTR_GEN_AI_TOOL_CALL_ARGUMENTS]: 'opt_in',
      [semconv.ATTR_GEN_AI_TOOL_CALL_RESULT]: 'opt_in',
    },
  },
  [semconv.GEN_AI_OPERATION_NAME_VALUE_RETRIEVAL]: {
    id: 'span.gen_ai.retrieval.client',
    kind: 3,
    namedAfter: semconv.ATTR_GEN_AI_DATA_SOURCE_ID,
    attributes: {
      ...COMMON,
      ...SERVER,
      [semconv.ATTR_GEN_AI_PROVIDER_NAME]: 'conditional',
      [semconv.ATTR_GEN_AI_DATA_SOURCE_ID]: 'conditional',
      [semconv.ATTR_GEN_AI_REQUEST_TOP_K]: 'recommended',
      [semconv.ATTR_GEN_AI_RETRIEVAL_QUERY_TEXT]: 'opt_in',
      [semconv.ATTR_GEN_AI_RETRIEVAL_DOCUMENTS]: 'opt_in',
    },
  },
};

/** Types of attributes; that of all others is `string`. */
export const TYPES: Readonly<Record<string, AttributeType>> = {
  [semconv.ATTR_GEN_AI_REQUEST_MAX_TOKENS]: 'int',
  [semconv.ATTR_GEN_AI_REQUEST_CHOICE_COUNT]: 'int',
  [semconv.ATTR_GEN_AI_REQUEST_SEED]: 'int',
  [semconv.ATTR_GEN_AI_REQUEST_TEMPERATURE]: 'double',
  [semconv.ATTR_GEN_AI_REQUEST_TOP_P]: 'double',
  [semconv.ATTR_GEN_AI_REQUEST_TOP_K]: 'double',
  [semconv.ATTR_GEN_AI_REQUEST_FREQUENCY_PENALTY]: 'double',
  [semconv.ATTR_GEN_AI_REQUEST_PRESENCE_PENALTY]: 'double',
  [semconv.ATTR_GEN_AI_REQUEST_STOP_SEQUENCES]: 'string[]',
  [semconv.ATTR_GEN_AI_REQUEST_STREAM]: 'boolean',
  [semconv.ATTR_GEN_AI_RESPONSE_FINISH_REASONS]: 'string[]',
  [semconv.ATTR_GEN_AI_RESPONSE_TIME_TO_FIRST_CHUNK]: 'double',
  [semconv.ATTR_GEN_AI_USAGE_INPUT_TOKENS]: 'int',
  [semconv.ATTR_GEN_AI_USAGE_OUTPUT_TOKENS]: 'int',
  [semconv.ATTR_GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS]: 'int',
  [semconv.ATTR_GEN_AI_USAGE_CACHE_CREATION_INPUT_TOKENS]: 'int',
  [semconv.ATTR_GEN_AI_USAGE_REASONING_OUTPUT_TOKENS]: 'int',
  [semconv.ATTR_SERVER_PORT]: 'int',
  ...Object.fromEntries(
    [
      semconv.ATTR_GEN_AI_SYSTEM_INSTRUCTIONS,
      semconv.ATTR_GEN_AI_INPUT_MESSAGES,
      semconv.ATTR_GEN_AI_OUTPUT_MESSAGES,
      semconv.ATTR_GEN_AI_TOOL_DEFINITIONS,
      semconv.ATTR_GEN_AI_TOOL_CALL_ARGUMENTS,
      semconv.ATTR_GEN_AI_TOOL_CALL_RESULT,
      semconv.ATTR_GEN_AI_RETRIEVAL_DOCUMENTS,
    ].map((name) => [name, 'any'] as const),
  ),
};

/** These attributes may have no other values. */
const CLOSED: Readonly<Record<string, readonly string[]>> = {
  [semconv.ATTR_GEN_AI_OUTPUT_TYPE]: valuesOf('GEN_AI_OUTPUT_TYPE_VALUE_'),
  [semconv.ATTR_GEN_AI_TOOL_TYPE]: ['function', 'extension', 'datastore'],
};

function valuesOf(prefix: string): readonly string[] {
  return Object.entries(semconv).flatMap(([name, value]) => (name.startsWith(prefix) && typeof value === 'string' ? [value] : []));
}

/** Tells whether the conventions for generative AI are about the span. */
export const isGenAi = ({ attributes }: ReceivedSpan): boolean => semconv.ATTR_GEN_AI_OPERATION_NAME in attributes;

/** Says in words what the span has that the conventions don't allow, and what it lacks that they ask for. */
export function violationsOf(span: ReceivedSpan, { content }: { readonly content: boolean }): readonly string[] {
  const { attributes, name, kind, schemaUrl, statusCode } = span;
  const operation = String(attributes[semconv.ATTR_GEN_AI_OPERATION_NAME]);
  const convention = SPANS[operation];
  if (convention === undefined) return [`${name}: no convention for the operation ${operation}`];
  const target = attributes[convention.namedAfter];
  const expected = typeof target === 'string' ? `${operation} ${target}` : operation;
  const problems = [
    ...(name === expected ? [] : [`is not named ${expected}`]),
    ...(kind === convention.kind ? [] : [`has kind ${kind}`]),
    ...(schemaUrl === SCHEMA_URL ? [] : [`has the schema ${schemaUrl}`]),
    ...Object.entries(convention.attributes).flatMap(([key, level]) =>
      level === 'required' && attributes[key] === undefined ? [`lacks ${key}`] : [],
    ),
    ...Object.entries(attributes).flatMap(([key, value]) => problemsOf(key, value, convention, content)),
    ...conditions(attributes, statusCode),
  ];
  return problems.map((problem) => `${name}: ${problem}`);
}

function problemsOf(key: string, value: unknown, { attributes }: SpanConvention, content: boolean): readonly string[] {
  if (key.startsWith('parley.')) return [];
  // "Application developers that manage conversation history MAY add conversation id to GenAI and other spans."
  const level = attributes[key] ?? (key === semconv.ATTR_GEN_AI_CONVERSATION_ID ? 'conditional' : undefined);
  if (level === undefined) return [`has ${key}, which is none of its attributes`];
  if (level === 'opt_in' && !content) return [`has ${key}, which was not switched on`];
  const type = TYPES[key] ?? 'string';
  if (!hasType(value, type)) return [`has ${key}=${JSON.stringify(value)}, which is no ${type}`];
  const allowed = CLOSED[key];
  return allowed !== undefined && !allowed.includes(String(value))
    ? [`has ${key}=${String(value)}, which is none of ${allowed.join(', ')}`]
    : [];
}

function hasType(value: unknown, type: AttributeType): boolean {
  switch (type) {
    case 'int':
      return Number.isSafeInteger(value) && Number(value) >= 0;
    case 'double':
      return typeof value === 'number' && value >= 0;
    case 'string[]':
      return Array.isArray(value) && value.every((item) => typeof item === 'string' && item !== '');
    case 'any':
      return isJson(value);
    default:
      return typeof value === type && value !== '';
  }
}

/** Tells whether a text is JSON, which stands for structure in attributes. */
function isJson(value: unknown): boolean {
  try {
    return typeof value === 'string' && JSON.parse(value) !== undefined;
  } catch {
    return false;
  }
}

/** Finds the attributes that are required where they apply, as far as a span shows. */
function conditions(attributes: ReceivedSpan['attributes'], statusCode: number): readonly string[] {
  const failed = statusCode === 2;
  return [
    ...(failed === (attributes[semconv.ATTR_ERROR_TYPE] !== undefined) ? [] : ['has either a failed status or error.type, not both']),
    ...(attributes[semconv.ATTR_SERVER_ADDRESS] !== undefined && attributes[semconv.ATTR_SERVER_PORT] === undefined
      ? ['has server.address without server.port']
      : []),
  ];
}

interface Message {
  readonly role?: unknown;
  readonly parts?: readonly { readonly type?: unknown }[];
  readonly finish_reason?: unknown;
}

/** Reads messages by the conventions' JSON schemas. */
export function messagesIn(text: unknown): readonly Message[] {
  const messages = JSON.parse(String(text)) as readonly Message[];
  for (const { role, parts } of messages) {
    if (typeof role !== 'string' || !Array.isArray(parts) || !parts.every(({ type }) => typeof type === 'string'))
      throw new Error(`not a message: ${JSON.stringify({ role, parts })}`);
  }
  return messages;
}
