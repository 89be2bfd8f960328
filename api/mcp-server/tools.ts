/** Turns routes into MCP tools: name, texts, schemas and hints of each follow from its description. Pure. */
import type { Tool } from '@modelcontextprotocol/server';
import { z } from 'zod';

import type { RouteDescription, ToolAnnotation } from '../http/route.ts';
import type { JsonObject } from '../../platform/json.ts';
import { schemaOf } from './schemas.ts';

export interface RouteTool {
  readonly definition: Tool;
  readonly route: RouteDescription;
  readonly annotation: ToolAnnotation;
  /** The route that reads the object before an update; undefined for other tools. */
  readonly before: RouteDescription | undefined;
}

export interface ToolRequest {
  readonly method: RouteDescription['method'];
  readonly url: string;
  readonly body: unknown;
}

type Arguments = Readonly<Record<string, unknown>>;

/** Depth of objects that are written out: a deeper one is any object, and the route says what is wrong with it. */
const ARGUMENTS = { io: 'input', depth: 3, descriptions: true } as const;
const ANSWERS = { io: 'output', depth: 1, descriptions: false, nulls: true } as const;

const offset = { type: 'integer', minimum: 0, default: 0, description: 'To read on in long lists: `read_on.offset` of the answer before.' };
const readOn = { type: 'object', properties: { offset: { type: 'integer' }, of: { type: 'integer' } } };
const dryRun = {
  type: 'boolean',
  default: true,
  description: 'Validate, say what would change, and change nothing. Only `false` makes the change.',
};
const changes = {
  type: 'array',
  items: { type: 'object', properties: { field: { type: 'string' } }, required: ['field'] },
};

/** @throws Error when two parts of a route have a field of the same name */
export function routeTools(routes: readonly RouteDescription[]): readonly RouteTool[] {
  return routes.flatMap((route) => {
    if (route.mcp === undefined) return [];
    const isUpdate = route.method === 'PUT' || route.method === 'PATCH';
    const before = isUpdate ? routes.find(({ method, path }) => method === 'GET' && path === route.path) : undefined;
    return [{ definition: toolDefinition(route, route.mcp), route, annotation: route.mcp, before }];
  });
}

/** Turns `getCall` into `get_call`. */
export function toolNameOf(operationId: string): string {
  return operationId.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function takesDryRun(route: RouteDescription): boolean {
  return route.query !== undefined && 'dry_run' in route.query.shape;
}

function toolDefinition(route: RouteDescription, annotation: ToolAnnotation): Tool {
  const name = toolNameOf(route.operationId);
  const reads = route.method === 'GET' || annotation.reads === true;
  const words = name.replaceAll('_', ' ');
  const output = outputOf(route, annotation);
  return {
    name,
    title: words.charAt(0).toUpperCase() + words.slice(1),
    description: [route.summary, route.description].filter((text) => text !== undefined).join('. '),
    inputSchema: inputOf(route, annotation),
    ...(output !== undefined && { outputSchema: output }),
    annotations: {
      readOnlyHint: reads,
      destructiveHint: !reads && route.method !== 'POST',
      idempotentHint: reads || route.method !== 'POST',
      openWorldHint: annotation.openWorld === true,
    },
  } as Tool;
}

function inputOf(route: RouteDescription, annotation: ToolAnnotation): JsonObject {
  const params = Object.entries(route.params ?? {}).map(([name, description]) => [name, { type: 'string', description }] as const);
  const query = route.query === undefined ? {} : schemaOf(route.query, { ...ARGUMENTS, nulls: false });
  const body = bodyOf(route);
  const parts = [
    Object.fromEntries(params),
    { ...propertiesOf(query), ...(takesDryRun(route) && { dry_run: dryRun }) },
    annotation.longLists === undefined ? {} : { offset },
    // Where the body may repeat an id of the address, the address supplies it.
    Object.fromEntries(Object.entries(propertiesOf(body)).filter(([name]) => !(name in (route.params ?? {})))),
  ];
  const names = parts.flatMap((part) => Object.keys(part));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`${route.operationId} has ${twice} in two parts of its request: a tool needs one name for each`);
  const required = [...params.map(([name]) => name), ...requiredOf(query), ...requiredOf(body)];
  return { type: 'object', properties: Object.assign({}, ...parts) as JsonObject, ...(required.length > 0 && { required }) };
}

/** Returns the arguments of a body: one argument for one of several objects, otherwise its fields beside those of the query. */
function bodyOf(route: RouteDescription): JsonObject {
  if (route.body === undefined) return {};
  // In an update null brings back the default; a new object has it without null.
  const schema = schemaOf(route.body, { ...ARGUMENTS, nulls: route.method !== 'POST' });
  return isOneArgument(route) ? { properties: { body: schema }, required: ['body'] } : schema;
}

function isOneArgument({ body }: RouteDescription): boolean {
  return body !== undefined && !(body instanceof z.ZodObject);
}

function outputOf(route: RouteDescription, annotation: ToolAnnotation): JsonObject | undefined {
  const schema = Object.values(route.answers).find((answer) => answer.schema !== undefined)?.schema;
  if (schema === undefined) return undefined;
  const answered = schemaOf(schema, ANSWERS);
  const added = {
    ...(takesDryRun(route) && { dry_run: { type: 'boolean' }, changes }),
    ...(annotation.longLists !== undefined && { read_on: readOn }),
  };
  // A union has no properties of its own, and allows the added ones as it is.
  return {
    type: 'object',
    ...answered,
    ...(answered['properties'] !== undefined && { properties: { ...propertiesOf(answered), ...added } }),
  };
}

/** @returns the arguments that should be ids and aren't */
export function wrongIds({ params = {} }: RouteDescription, given: Arguments): readonly string[] {
  return Object.keys(params).filter((name) => !isId(given[name]));
}

/**
 * Builds the request of a call whose ids are sound. An argument of no part goes where unknown fields are warned of, and nothing but
 * `dry_run: false` makes a change.
 */
export function buildToolRequest({ route, annotation }: Pick<RouteTool, 'route' | 'annotation'>, given: Arguments): ToolRequest {
  const inPath = Object.keys(route.params ?? {});
  const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(given[name])));
  const rest = Object.entries({ ...given, ...(takesDryRun(route) && { dry_run: given['dry_run'] !== false }) }).filter(
    ([name]) => !inPath.includes(name) && !(name === 'offset' && annotation.longLists !== undefined),
  );
  const inQuery = (name: string): boolean => route.body === undefined || name in (route.query?.shape ?? {});
  const query = new URLSearchParams(rest.filter(([name, value]) => inQuery(name) && value !== null).flatMap(queryItems));
  const fields = Object.fromEntries(rest.filter(([name]) => !inQuery(name)));
  return {
    method: route.method,
    url: query.size === 0 ? path : `${path}?${query.toString()}`,
    body: route.body === undefined ? undefined : isOneArgument(route) ? fields['body'] : fields,
  };
}

/** Returns whether a value can be an id. The URL parser would resolve dots as parts of the address, which then leads elsewhere. */
function isId(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && value !== '.' && value !== '..' && value.isWellFormed();
}

function queryItems([name, value]: readonly [string, unknown]): readonly [string, string][] {
  const all = Array.isArray(value) ? (value as unknown[]) : [value];
  return all.map((each) => [name, typeof each === 'string' ? each : JSON.stringify(each)]);
}

function propertiesOf(schema: JsonObject): JsonObject {
  return (schema['properties'] ?? {}) as JsonObject;
}

function requiredOf(schema: JsonObject): readonly string[] {
  return (schema['required'] ?? []) as readonly string[];
}
