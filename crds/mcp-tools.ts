/** Decides which tools of an MCP server's list an agent gets, by which names, and how two lists differ. Pure. */
import { canonicalJson, memoizeCanonicalJson, sha256 } from '../platform/canonical-json.ts';
import { cutText } from '../platform/cut-text.ts';
import { parameters } from './limits.ts';
import { builtinFunctionNames, callFunctionNames, type ToolSpec, type ToolStatus } from './tool.ts';

export type McpSpec = NonNullable<ToolSpec['mcp']>;

/** A tool as the server lists it, without what Parley doesn't use. */
export interface ServerTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The server says that it changes nothing: calls may be cancelled and repeated. */
  readonly readOnly: boolean;
  /** Says why no model can be given it; absent for a tool that can be used. */
  readonly unusable?: string;
}

/** A tool of an MCP server as a revision holds it. */
export interface McpFunction extends ServerTool {
  readonly functionName: string;
}

export interface McpTools {
  /** Digest of names, descriptions and schemas: `sha256:` and lower-case hex. */
  readonly digest: string;
  /** Tools sorted by the server's name. */
  readonly tools: readonly McpFunction[];
}

/** The reader of a list keeps a type here that no function can have: the SDK takes no other than object. */
export const FOREIGN_TYPE = 'x-parley-type';
export const MCP_TOOLS_LIMIT = 128;
/** Longest description that a model gets, in characters: the same as for a custom tool. */
const DESCRIPTION_LENGTH = 4096;
const FUNCTION_NAME_LENGTH = 64;
const SERVER_NAME_LENGTH = 128;
/** Longest reason why a tool can't be used, in characters. */
const PROBLEM_LENGTH = 200;
const CHANGES_SHOWN = 32;
const DESCRIPTION_SHOWN = 500;

export function serverTool(listed: {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly annotations?: { readonly title?: string | undefined; readonly readOnlyHint?: boolean | undefined } | undefined;
}): ServerTool {
  const { name, inputSchema, annotations } = listed;
  const problem = toolProblem(name, inputSchema);
  const readOnly = annotations?.readOnlyHint === true;
  if (problem !== undefined) {
    const shortName = storable(Array.from(name).slice(0, SERVER_NAME_LENGTH).join(''));
    return { name: shortName, description: '', parameters: {}, readOnly, unusable: storable(cutText(problem, PROBLEM_LENGTH)) };
  }
  const description = listed.description ?? listed.title ?? annotations?.title ?? '';
  return {
    name: name.toWellFormed(),
    description: storable(Array.from(description).slice(0, DESCRIPTION_LENGTH).join('')),
    parameters: { type: 'object', ...inputSchema },
    readOnly,
  };
}

/** Says why no model can be given the tool. */
function toolProblem(name: string, { [FOREIGN_TYPE]: foreign, ...inputSchema }: Readonly<Record<string, unknown>>): string | undefined {
  if (name === '') return 'it has no name';
  if (Array.from(name).length > SERVER_NAME_LENGTH) return `its name is longer than ${SERVER_NAME_LENGTH} characters`;
  const type = foreign ?? inputSchema['type'];
  const [problem] = parameters({ ...inputSchema, ...(type !== undefined && { type }) }, 'inputSchema');
  return problem && `${problem.path} ${problem.message}`;
}

/** Replaces what Postgres can't keep. */
const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\uFFFD');

const byName = (a: ServerTool, b: ServerTool): number => (a.name < b.name ? -1 : 1);

const isChosen = ({ name }: ServerTool, { include, exclude = [] }: Pick<McpSpec, 'include' | 'exclude'>): boolean =>
  (include === undefined || include.includes(name)) && !exclude.includes(name);

/** Returns what the spec asks for and no agent gets: tools that no model can be given, and those behind the limit. */
export function toolsLeftOut(
  spec: Pick<McpSpec, 'include' | 'exclude'>,
  list: readonly ServerTool[],
): { readonly unusable: readonly ServerTool[]; readonly tooMany: readonly string[] } {
  const wanted = list.filter((tool) => isChosen(tool, spec)).toSorted(byName);
  return {
    unusable: wanted.filter(({ unusable }) => unusable !== undefined),
    tooMany: wanted
      .filter(({ unusable }) => unusable === undefined)
      .slice(MCP_TOOLS_LIMIT)
      .map(({ name }) => name),
  };
}

/** Caches by list: stored lists are not changed in place. */
const chosen = new WeakMap<readonly ServerTool[], Map<string, McpTools>>();

/** Returns the part of a server's list that the spec asks for, and its digest. */
export function selectTools(
  { include, exclude = [], prefix = '' }: Pick<McpSpec, 'include' | 'exclude' | 'prefix'>,
  list: readonly ServerTool[],
): McpTools {
  const key = JSON.stringify([include, exclude, prefix]);
  const known = chosen.get(list) ?? new Map<string, McpTools>();
  chosen.set(list, known);
  const before = known.get(key);
  if (before !== undefined) return before;
  const wanted = list
    .filter((tool) => tool.unusable === undefined && isChosen(tool, { include, exclude }))
    .toSorted(byName)
    .slice(0, MCP_TOOLS_LIMIT);
  const names = functionNames(
    wanted.map(({ name }) => `${prefix}${name}`),
    RESERVED,
  );
  const tools = wanted.map((tool, index): McpFunction => ({ ...tool, functionName: names[index] ?? tool.name }));
  const made: McpTools = memoizeCanonicalJson({ digest: `sha256:${sha256(canonicalJson(wanted))}`, tools });
  known.set(key, made);
  return made;
}

/**
 * No tool of a server gets these names, whether the agent has the function or not: the model would tell the server what it tells Parley,
 * and a prompt that says `end_call` would no longer hang up.
 */
const RESERVED: readonly string[] = [...Object.values(builtinFunctionNames), ...callFunctionNames];

const plainName = (name: string): string => name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, FUNCTION_NAME_LENGTH);

export function toolsWithReservedNames({ prefix = '' }: Pick<McpSpec, 'prefix'>, { tools }: McpTools): readonly McpFunction[] {
  return tools.filter(({ name }) => RESERVED.includes(plainName(`${prefix}${name}`)));
}

/** Makes names in the form that every model provider takes, each once, and none of those that are `reserved`. */
export function functionNames(names: readonly string[], reserved: readonly string[] = []): readonly string[] {
  const taken = new Set(reserved);
  return names.map((wanted) => {
    const plain = plainName(wanted);
    let name = plain;
    for (let n = 2; taken.has(name); n += 1) name = `${plain.slice(0, FUNCTION_NAME_LENGTH - String(n).length - 1)}_${n}`;
    taken.add(name);
    return name;
  });
}

export function missingTools({ include = [] }: Pick<McpSpec, 'include'>, list: readonly ServerTool[]): readonly string[] {
  const known = new Set(list.map(({ name }) => name));
  return include.filter((name) => !known.has(name));
}

type McpChange = NonNullable<NonNullable<NonNullable<ToolStatus['mcp']>['changes']>[number]>;

/** Compares the server's list with the one that agents use, by name. */
export function changesBetween(used: McpTools, latest: McpTools): readonly McpChange[] {
  const before = new Map(used.tools.map((tool) => [tool.name, tool]));
  const after = new Map(latest.tools.map((tool) => [tool.name, tool]));
  return [...new Set([...before.keys(), ...after.keys()])].toSorted().flatMap((tool): readonly McpChange[] => {
    const [old, now] = [before.get(tool), after.get(tool)];
    if (old === undefined) return [{ tool, change: 'Added', after: shown(now) }];
    if (now === undefined) return [{ tool, change: 'Removed', before: shown(old) }];
    if (canonicalJson(old) === canonicalJson(now)) return [];
    const described = old.description === now.description ? {} : { before: shown(old), after: shown(now) };
    const parametersChanged = canonicalJson(old.parameters) !== canonicalJson(now.parameters);
    return [{ tool, change: 'Changed', ...described, ...(parametersChanged && { parametersChanged }) }];
  });
}

export const shownChanges = (changes: readonly McpChange[]): McpChange[] => changes.slice(0, CHANGES_SHOWN);

const shown = (tool: ServerTool | undefined): string =>
  Array.from(tool?.description ?? '')
    .slice(0, DESCRIPTION_SHOWN)
    .join('');

/** Formats `2 added (a, b), 1 removed (c)`, for example. */
export function summaryOfChanges(changes: readonly McpChange[]): string {
  const groups = Map.groupBy(changes, ({ change }) => change.toLowerCase());
  return [...groups].map(([change, of]) => `${of.length} ${change} (${namesShown(of.map(({ tool }) => tool))})`).join(', ');
}

const NAMES_SHOWN = 5;
export const namesShown = (all: readonly string[]): string =>
  all.length <= NAMES_SHOWN ? all.join(', ') : `${all.slice(0, NAMES_SHOWN).join(', ')} and ${all.length - NAMES_SHOWN} more`;
