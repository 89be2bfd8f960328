import { badRequest } from './refusal.ts';
import { isObject, type Json } from './schema.ts';

export type Matcher = (object: Json) => boolean;

/** `a=b,c!=d,e in (f,g),h notin (i),j,!k` */
export function labelMatcher(selector: string | undefined): Matcher {
  const requirements = split(selector ?? '').map(requirement);
  return (object) => {
    const labels = ((object['metadata'] as Json)['labels'] ?? {}) as Readonly<Record<string, string>>;
    return requirements.every((matches) => matches(labels));
  };
}

function requirement(text: string): (labels: Readonly<Record<string, string>>) => boolean {
  const set = /^([\w./-]+)\s+(in|notin)\s*\(([^)]*)\)$/.exec(text);
  if (set !== null) {
    const [, key = '', operator, list = ''] = set;
    const values = new Set(list.split(',').map((value) => value.trim()));
    return (labels) => (labels[key] !== undefined && values.has(labels[key])) === (operator === 'in');
  }
  const equal = /^([\w./-]+)\s*(==|=|!=)\s*([\w.-]*)$/.exec(text);
  if (equal !== null) {
    const [, key = '', operator, value = ''] = equal;
    return (labels) => (labels[key] === value) === (operator !== '!=');
  }
  const exists = /^(!?)([\w./-]+)$/.exec(text);
  if (exists === null) throw badRequest(`unable to parse requirement: ${text}`);
  const [, not, key = ''] = exists;
  return (labels) => (labels[key] !== undefined) === (not === '');
}

/** `metadata.name=a,spec.number!=b`, for the fields that may be selected by. */
export function fieldMatcher(selector: string | undefined, selectable: readonly string[]): Matcher {
  const terms = split(selector ?? '').map((text) => {
    const [, path = '', operator, value = ''] = /^([\w.]+)\s*(==|=|!=)(.*)$/.exec(text) ?? [];
    if (operator === undefined) throw badRequest(`invalid selector: '${text}'; can't understand '${text}'`);
    if (!selectable.includes(path)) throw badRequest(`field label not supported: ${path}`);
    return { path: path.split('.'), value, equal: operator !== '!=' };
  });
  return (object) => terms.every(({ path, value, equal }) => (at(object, path) === value) === equal);
}

function at(object: Json, path: readonly string[]): string {
  const value = path.reduce<unknown>((part, name) => (isObject(part) ? part[name] : undefined), object);
  return value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);
}

/** At commas outside of parentheses. */
function split(selector: string): readonly string[] {
  return selector
    .split(/,(?![^(]*\))/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
