/** Resource paths in REST's words. */
import type { Loc } from '../validation/issue.ts';

/** From a path in the spec (`llm.baseURL`, list items as `*`) to its REST name (`llm.base_url`). A path that isn't here is unknown to REST. */
export type FieldNames = Readonly<Record<string, string>>;

type Segment = string | number;

/** `.spec.dynamicData[name="a"].url`, `spec.dynamicData[0].url` → the segments below `spec`; a keyed or set item is `*`. */
function segmentsOf(path: string): Segment[] {
  const segments: Segment[] = [];
  for (const [, name, index, key] of path.matchAll(/\.?([^.[\]]+)|\[(\d+)\]|\[((?:"(?:[^"\\]|\\.)*"|[^\]])*)\]/g)) {
    if (name !== undefined) segments.push(name);
    else if (index !== undefined) segments.push(Number(index));
    else if (key !== undefined) segments.push('*');
  }
  return segments[0] === 'spec' ? segments.slice(1) : segments;
}

interface Found {
  readonly loc: Segment[];
  /** What REST has no word for, below what it has. */
  readonly rest: readonly Segment[];
}

function find(names: FieldNames, path: string): Found | undefined {
  const segments = segmentsOf(path);
  for (let length = segments.length; length > 0; length -= 1) {
    const head = segments.slice(0, length);
    const rest = names[head.map((segment) => (typeof segment === 'number' ? '*' : segment)).join('.')];
    if (rest === undefined) continue;
    const positions = head.filter((segment) => typeof segment === 'number' || segment === '*');
    const loc = rest.split('.').map((part) => (part === '*' ? (positions.shift() ?? '*') : part));
    return { loc, rest: segments.slice(length) };
  }
  return undefined;
}

/** The REST name for people and programs (`llm.model_name`), or the resource path of what REST has no name for. */
export function restName(names: FieldNames, path: string): string {
  const found = find(names, path);
  return found === undefined ? path : found.loc.filter((segment) => segment !== '*').join('.');
}

/** Where in the request's body a failure of the server belongs; undefined where REST has no word for it. */
export function restLoc(names: FieldNames, path: string): Loc | undefined {
  const found = find(names, path);
  return found === undefined
    ? undefined
    : ['body', ...found.loc.filter((segment) => segment !== '*'), ...found.rest.filter((segment) => segment !== '*')];
}

/** A message about the resource with REST's names of its fields. What stands in quotes was sent, and stays. */
export function inRestNames(names: FieldNames, message: string): string {
  const last = (path: string): string => path.slice(path.lastIndexOf('.') + 1);
  const words = new Map(Object.entries(names).map(([path, rest]) => [last(path), last(rest)]));
  return message.replaceAll(
    /"(?:[^"\\]|\\.)*"|\b(?:spec\.)?([a-z]+[A-Z]\w*)/g,
    (text, word: string | undefined) => words.get(word ?? '') ?? text,
  );
}
