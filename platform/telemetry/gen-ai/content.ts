/**
 * Writes content on spans: messages, and arguments and results of tools. It is off by default, for those who read traces are not those who
 * may read calls. Each attribute is JSON, as the conventions want it where attributes have no structure.
 */
import { cutText } from '../../cut-text.ts';
import { MASK } from '../../masking.ts';
import { SECRET_KEYS } from '../../secret-keys.ts';
import type { Attributes } from '../tracing.ts';
import * as genAi from './conventions.ts';

const MAX_CHARACTERS = 32_000;
/** Most characters of a text within an attribute. */
const MAX_TEXT = 8_000;

/** Matches a secret in JSON inside a text, such as a transcript with the calls of tools. */
const SECRET_IN_TEXT = new RegExp(String.raw`"(${[...SECRET_KEYS].join('|')})" ?: ?"(?:[^"\\]|\\.)*"`, 'g');

/** Reads the variable that the field uses: `true`, or a value that newer instrumentations of other languages take. */
export function wantsContent(env: Readonly<Record<string, string | undefined>>): boolean {
  const wanted = env['OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT']?.trim().toLowerCase() ?? '';
  return ['true', 'span_only', 'span_and_event'].includes(wanted);
}

/** A message in the form of the conventions. Source: gen-ai-input-messages.json. */
export interface ContentMessage {
  readonly role: string;
  readonly parts: readonly object[];
  readonly finish_reason?: string;
}

export const textPart = (content: string): object => ({ type: 'text', content });

/** @returns JSON with secrets masked as in logs, its texts cut, without the oldest messages if not all of them fit */
export function messagesText(messages: readonly ContentMessage[]): string {
  let left = messages.map((message) => valueText(message));
  while (left.length > 1 && left.reduce((sum, text) => sum + text.length + 1, 2) > MAX_CHARACTERS) left = left.slice(1);
  return `[${left.join(',')}]`;
}

/** @returns JSON with secrets masked as in logs, its texts cut */
export function valueText(value: unknown): string {
  const text = JSON.stringify(value, (key, item: unknown) => {
    if (SECRET_KEYS.has(key)) return MASK;
    return typeof item === 'string' ? cutText(item.replaceAll(SECRET_IN_TEXT, `"$1":"${MASK}"`), MAX_TEXT) : item;
  });
  return text === undefined ? 'null' : text.length <= MAX_CHARACTERS ? text : JSON.stringify(cutText(text, MAX_CHARACTERS));
}

const CONTENT: ReadonlySet<string> = new Set([
  genAi.SYSTEM_INSTRUCTIONS,
  genAi.INPUT_MESSAGES,
  genAi.OUTPUT_MESSAGES,
  genAi.TOOL_DESCRIPTION,
  genAi.TOOL_CALL_ARGUMENTS,
  genAi.TOOL_CALL_RESULT,
  genAi.RETRIEVAL_QUERY,
]);

/** Returns the attributes that say nothing of what is said. */
export function withoutContent(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => !CONTENT.has(name)));
}
