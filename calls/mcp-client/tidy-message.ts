/**
 * Turns what servers send into what the official SDK expects, which refuses a whole answer for one field. Clients of other languages accept these:
 * null for absence, fields that nobody reads, and tools next to one that is broken. Pure.
 */
import { FOREIGN_TYPE } from '../../crds/mcp-tools.ts';
import { isObject } from '../../platform/json.ts';

type Json = Readonly<Record<string, unknown>>;

/** @param options.knownVersions versions of the protocol; the first is assumed where a server names an unknown one */
export interface TidyOptions {
  readonly knownVersions: readonly string[];
}

const MESSAGE_FIELDS: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params', 'result', 'error']);

/** Tidies one message of JSON-RPC, or several. */
export function tidyMessage(message: unknown, options: TidyOptions): unknown {
  if (Array.isArray(message)) return message.map((one) => tidyMessage(one, options));
  if (!isObject(message)) return message;
  const whole = Object.fromEntries(Object.entries(withoutNulls(message)).filter(([field]) => MESSAGE_FIELDS.has(field)));
  return isObject(whole['result']) ? { ...whole, result: tidyResult(whole['result'], options) } : whole;
}

function tidyResult(result: Json, { knownVersions }: TidyOptions): Json {
  const tidy: Record<string, unknown> = { ...withoutNulls(result) };
  keepIf(tidy, '_meta', isObject);
  if ('protocolVersion' in result) {
    if (!knownVersions.includes(String(tidy['protocolVersion']))) tidy['protocolVersion'] = knownVersions[0];
    tidy['capabilities'] = isObject(tidy['capabilities']) ? withoutNulls(tidy['capabilities']) : { tools: {} };
    const { name, version } = isObject(tidy['serverInfo']) ? tidy['serverInfo'] : {};
    tidy['serverInfo'] = { name: textOr(name, ''), version: textOr(version, '') };
    keepIf(tidy, 'instructions', isText);
  }
  if ('tools' in result) {
    tidy['tools'] = Array.isArray(result['tools']) ? result['tools'].flatMap(tidyTool) : [];
    keepIf(tidy, 'nextCursor', (cursor) => isText(cursor) && cursor !== '');
  }
  if ('content' in result || 'structuredContent' in result || 'isError' in result) {
    tidy['content'] = contentBlocks(result['content']).flatMap(tidyBlock);
    keepIf(tidy, 'isError', (flag) => typeof flag === 'boolean');
  }
  return tidy;
}

/** Keeps what a model may get of a tool, and nothing else. An item that is no tool has no name to report it by. */
function tidyTool(tool: unknown): readonly Json[] {
  if (!isObject(tool)) return [];
  const { name, title, description, inputSchema, annotations } = tool;
  const { readOnlyHint, title: hinted } = isObject(annotations) ? annotations : {};
  const about = {
    ...(typeof readOnlyHint === 'boolean' && { readOnlyHint }),
    ...(isText(hinted) && { title: hinted }),
  };
  return [
    {
      name: isText(name) ? name : '',
      ...(isText(title) && { title }),
      ...(isText(description) && { description }),
      inputSchema: tidySchema(inputSchema),
      ...(Object.keys(about).length > 0 && { annotations: about }),
    },
  ];
}

/** A tool without a schema takes no arguments. Only the outermost fields are looked at: inside of them null may mean null. */
function tidySchema(schema: unknown): Json {
  if (!isObject(schema)) return { type: 'object' };
  const { type = 'object', ...fields } = withoutNulls(schema);
  // The SDK takes no other type: the tool is reported by what it says (`unusable`).
  return type === 'object' ? { type, ...fields } : { type: 'object', ...fields, [FOREIGN_TYPE]: type };
}

function contentBlocks(content: unknown): readonly unknown[] {
  if (Array.isArray(content)) return content;
  return content === undefined || content === null ? [] : [content];
}

const BLOCKS: ReadonlySet<unknown> = new Set(['text', 'image', 'audio', 'resource', 'resource_link']);

/** A block of a type that is not known counts by its text. */
function tidyBlock(block: unknown): readonly Json[] {
  if (isText(block)) return [{ type: 'text', text: block }];
  if (!isObject(block)) return [];
  const { annotations: _annotations, _meta, icons: _icons, ...fields } = withoutNulls(block);
  if (!BLOCKS.has(fields['type'])) return isText(fields['text']) ? [{ type: 'text', text: fields['text'] }] : [];
  if (fields['type'] === 'text') return [{ type: 'text', text: textOr(fields['text'], JSON.stringify(fields['text'] ?? '')) }];
  const { resource } = fields;
  if (!isObject(resource)) return [fields];
  const { _meta: _of, ...contents } = withoutNulls(resource);
  return [{ ...fields, resource: contents }];
}

function withoutNulls(object: Json): Json {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));
}

function keepIf(object: Record<string, unknown>, field: string, isRight: (value: unknown) => boolean): void {
  if (field in object && !isRight(object[field])) delete object[field];
}

const isText = (value: unknown): value is string => typeof value === 'string';
const textOr = (value: unknown, other: string): string => (isText(value) ? value : other);
