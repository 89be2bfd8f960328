/** Passes the result of an MCP server's tool to the model: bounded, without secrets, and without what it can't read. */
import type { CallToolResult } from '@modelcontextprotocol/client';

import type { ServerTool } from '../../../crds/mcp-tools.ts';
import { usableJson, usableText } from '../http/answer.ts';
import { withoutInternals } from '../http/failure-words.ts';
import { parseJson } from '../http/json.ts';
import type { Redaction } from '../http/redaction.ts';
import { failure, STOPPED, type JsonValue, type ToolResult } from '../tool-result.ts';

type Block = CallToolResult['content'][number];

const CUT_NOTE = 'The answer was longer: only its beginning is shown, the rest was cut off.';
/** Most characters of a resource's name or address. */
const LABEL_LENGTH = 500;

export function toToolResult(
  result: CallToolResult,
  { redaction, host }: { readonly redaction: Redaction; readonly host: string },
): ToolResult {
  if (result.isError !== true) return { succeeded: true, forModel: answerOf(result, redaction), detail: 'ok' };
  const { content, structuredContent } = result;
  // Structured content is for programs, and need not say why a call failed.
  const words = content.some(({ type }) => type === 'text') ? { content } : result;
  const said =
    content.length === 0 && structuredContent === undefined ? {} : withoutInternals({ answer: answerOf(words, redaction) }, host);
  return failure('The service has refused the request.', said, 'tool_error', `${host} answered with an error of the tool`);
}

function answerOf({ content, structuredContent }: Pick<CallToolResult, 'content' | 'structuredContent'>, redaction: Redaction): JsonValue {
  // Servers repeat structured content as text, for clients that don't know it: once is enough.
  const others = content.filter(({ type }) => structuredContent === undefined || type !== 'text');
  const notes = others.flatMap((block) => noteOn(block, redaction) ?? []);
  const structured = structuredContent === undefined ? undefined : usableJson(structuredContent as JsonValue, redaction);
  if (structured !== undefined) return notes.length === 0 ? structured : { answer: structured, notes };
  const text =
    structuredContent === undefined ? content.flatMap((block) => blockText(block) ?? []).join('\n\n') : JSON.stringify(structuredContent);
  if (text === '') return notes.length === 0 ? { note: 'Done; the answer has no content.' } : { notes };
  const parsed = /^\s*[[{]/.test(text) ? parseJson(text) : undefined;
  const json = parsed === undefined ? undefined : usableJson(parsed, redaction);
  if (json !== undefined) return notes.length === 0 ? json : { answer: json, notes };
  const { text: shown, cut } = usableText(text, redaction);
  if (!cut && notes.length === 0) return shown;
  return { ...(cut && { note: CUT_NOTE }), answer: shown, ...(notes.length > 0 && { notes }) };
}

function blockText(block: Block): string | undefined {
  if (block.type === 'text') return block.text;
  return block.type === 'resource' && 'text' in block.resource ? block.resource.text : undefined;
}

/** Names the content that isn't passed on. */
function noteOn(block: Block, redaction: Redaction): string | undefined {
  const label = (text: string): string => redaction.text(text).slice(0, LABEL_LENGTH).toWellFormed();
  switch (block.type) {
    case 'image':
    case 'audio':
      return `The answer has ${block.type === 'image' ? 'an image' : 'a sound'} (${label(block.mimeType)}), which can't be shown here.`;
    case 'resource_link':
      return `See ${label(block.title ?? block.name)}: ${label(block.uri)}`;
    case 'resource':
      return 'text' in block.resource ? undefined : `The answer has a file (${label(block.resource.uri)}), which can't be shown here.`;
    default:
      return undefined;
  }
}

/** Returns the result of a call that was cancelled, for a model that learns of it. */
export function cancelled({ readOnly }: Pick<ServerTool, 'readOnly'>): ToolResult {
  const words = readOnly ? 'It was stopped, because the user has interrupted. Call again if it is still wanted.' : STOPPED;
  return failure(words, {}, 'cancelled');
}
