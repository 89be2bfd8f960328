/** Translates paths of resources to REST's names. */
import type { Loc } from '../validation/issue.ts';

/** Maps paths in the spec (`llm.baseURL`, list items as `*`) to REST names (`llm.base_url`); other paths are unknown to REST. */
export type FieldNames = Readonly<Record<string, string>>;

type Segment = string | number;

/** Splits `.spec.dynamicData[name="a"].url` or `spec.dynamicData[0].url` into the segments below `spec`; a keyed or set item is `*`. */
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
  /** The end of the path that REST has no name for. */
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

/** Returns the REST name for people and programs (`llm.model_name`), or the resource path of a field that REST has no name for. */
export function restName(names: FieldNames, path: string): string {
  const found = find(names, path);
  return found === undefined ? path : found.loc.filter((segment) => segment !== '*').join('.');
}

/** Returns the place in the request's body to which a failure of the server belongs; undefined where REST has no name for it. */
export function restLoc(names: FieldNames, path: string): Loc | undefined {
  const found = find(names, path);
  return found === undefined
    ? undefined
    : ['body', ...found.loc.filter((segment) => segment !== '*'), ...found.rest.filter((segment) => segment !== '*')];
}

/** Puts REST's names into a message about the resource. Quoted text was sent, and stays. */
export function inRestNames(names: FieldNames, message: string): string {
  const last = (path: string): string => path.slice(path.lastIndexOf('.') + 1);
  const words = new Map(Object.entries(names).map(([path, rest]) => [last(path), last(rest)]));
  return message.replaceAll(
    /"(?:[^"\\]|\\.)*"|\b(?:spec\.)?([a-z]+[A-Z]\w*)/g,
    (text, word: string | undefined) => words.get(word ?? '') ?? text,
  );
}
