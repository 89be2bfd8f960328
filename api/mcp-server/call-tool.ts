/** Runs a tool as a request to its route, which takes the way of every other request, with the caller's key. */
import type { CallToolResult } from '@modelcontextprotocol/server';

import { changesBetween } from './changes.ts';
import { COMFORTABLE, LONGEST, smallerPage, withinBounds } from './bounds.ts';
import { describeFailure } from './errors.ts';
import type { JsonObject } from '../../platform/json.ts';
import { takesDryRun, buildToolRequest, wrongIds, type RouteTool, type ToolRequest } from './tools.ts';

export interface RouteAnswer {
  readonly status: number;
  readonly text: string;
  readonly retryAfter: string | undefined;
}

export type SendRequest = (request: ToolRequest) => Promise<RouteAnswer>;

type Arguments = Readonly<Record<string, unknown>>;

export async function callTool(tool: RouteTool, given: Arguments, send: SendRequest): Promise<CallToolResult> {
  const detail = wrongIds(tool.route, given).map((name) => ({ loc: ['path', name], msg: 'Field required: the id of an object' }));
  if (detail.length > 0) return failed(describeFailure({ status: 422, body: { detail }, retryAfter: undefined }));
  const request = buildToolRequest(tool, given);
  const isDryRun = takesDryRun(tool.route) && given['dry_run'] !== false;
  const before = isDryRun ? await readBefore(tool, given, send) : undefined;
  const answer = await sendSmaller(tool, given, request, send);
  const body = parsed(answer.text);
  if (answer.status >= 400) return failed(describeFailure({ ...answer, body }));
  if (body !== undefined && answer.text.length > LONGEST && tool.annotation.longLists === undefined)
    return failed(
      `the answer has ${answer.text.length} characters, more than a tool may give: read it with ${request.method} ${request.url}`,
    );
  const { longLists: lists } = tool.annotation;
  const start = typeof given['offset'] === 'number' && given['offset'] > 0 ? Math.floor(given['offset']) : 0;
  const bounded = lists === undefined ? (body ?? {}) : withinBounds(body ?? {}, { lists, offset: start });
  const result = isDryRun ? { ...bounded, dry_run: true, ...(before && { changes: changesBetween(before, bounded) }) } : bounded;
  const hints = [
    ...(isDryRun ? [`Dry run: nothing was changed. To make the change, call ${tool.definition.name} again with dry_run: false.`] : []),
    ...readOnHint(bounded['read_on']),
  ];
  return {
    content: [...hints, JSON.stringify(result)].map((text) => ({ type: 'text', text })),
    structuredContent: result,
  };
}

function readOnHint(readOn: unknown): readonly string[] {
  if (readOn === undefined) return [];
  const { offset, of } = readOn as { readonly offset: number; readonly of: number };
  return [`The lists are cut: call again with offset: ${offset} to read on, up to ${of}.`];
}

/** Asks again for fewer objects where a page is too long, so that its token leads on without a gap. */
async function sendSmaller(tool: RouteTool, given: Arguments, first: ToolRequest, send: SendRequest): Promise<RouteAnswer> {
  let answer = await send(first);
  const shape = tool.route.query?.shape ?? {};
  if (!('page_size' in shape)) return answer;
  const asked = tool.route.query?.safeParse({}).data?.['page_size'];
  let size = Number(given['page_size'] ?? asked);
  while (answer.status < 400 && answer.text.length > COMFORTABLE && size > 1) {
    size = smallerPage(size, answer.text.length);
    answer = await send(buildToolRequest(tool, { ...given, page_size: size }));
  }
  return answer;
}

async function readBefore({ before: route, annotation }: RouteTool, given: Arguments, send: SendRequest): Promise<JsonObject | undefined> {
  if (route === undefined) return undefined;
  const ids = Object.fromEntries(Object.keys(route.params ?? {}).map((name) => [name, given[name]]));
  const { status, text } = await send(buildToolRequest({ route, annotation }, ids));
  return status < 400 ? parsed(text) : undefined;
}

/** Parses an answer, which is an object for every route that is a tool; an answer without a body has no content. */
function parsed(text: string): JsonObject | undefined {
  return text === '' ? undefined : (JSON.parse(text) as JsonObject);
}

function failed(text: string): CallToolResult {
  return { isError: true, content: [{ type: 'text', text }] };
}
