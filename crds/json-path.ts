/**
 * Reads paths into an answer: what people write of JSONPath (RFC 9535) to name a place. `$.customer.name`, `$['first name']`,
 * `$.orders[0].id`, `$.orders[-1]`, `$.orders[*].id`, `$..id`; `$.` may be left out. Filters, slices and unions are no places, and
 * refused; so is a second `..`, which would find the same places on many ways.
 */

/** A path that can't be read. The message says where. */
export class PathError extends Error {
  override readonly name = 'PathError';
}

interface Step {
  /** Undefined for all members. */
  readonly key?: string | number;
  /** True for any depth below, in the order of the text. */
  readonly deep: boolean;
}

const member = String.raw`\*|(?<name>[^.[\]*'"\s$]+)`;
const selector = String.raw`\*|(?<index>-?\d{1,9})|'(?<single>(?:[^'\\]|\\.)*)'|"(?<double>(?:[^"\\]|\\.)*)"`;
const stepPattern = new RegExp(String.raw`(?<dots>\.\.?)(?:${member})|(?<deep>\.\.)?\[\s*(?:${selector})\s*\]`, 'y');

/**
 * Returns the value at a path that can lead to one place only, else the list of all values.
 *
 * @returns undefined where it leads nowhere
 * @throws PathError
 */
export function valueAt(path: string, answer: unknown): unknown {
  const steps = parsePath(path);
  let found: readonly unknown[] = [answer];
  for (const step of steps) {
    const from = step.deep ? found.flatMap(descendants) : found;
    found = from.flatMap((value) => membersOf(value, step.key));
  }
  const singular = steps.every(({ key, deep }) => key !== undefined && !deep);
  return singular ? found[0] : found.length === 0 ? undefined : found;
}

/** @returns why nothing can be found at `path`; undefined for a path that can be read */
export function pathFault(path: string): string | undefined {
  try {
    parsePath(path);
    return undefined;
  } catch (error) {
    if (error instanceof PathError) return error.message;
    throw error;
  }
}

function parsePath(path: string): readonly Step[] {
  const trimmed = path.trim();
  const text = trimmed.startsWith('$') ? trimmed.slice(1) : /^[[.]/.test(trimmed) ? trimmed : `.${trimmed}`;
  const steps: Step[] = [];
  let deepSteps = 0;
  for (let at = 0; at < text.length; at = stepPattern.lastIndex) {
    stepPattern.lastIndex = at;
    const groups = stepPattern.exec(text)?.groups;
    if (groups === undefined) {
      throw new PathError(
        `${JSON.stringify(path)} is no path into JSON: it can't be read from ${JSON.stringify(text.slice(at, at + 20))} on`,
      );
    }
    const { name, index, single, double, dots, deep } = groups;
    const quoted = single ?? double;
    const key = index !== undefined ? Number(index) : (name ?? (quoted === undefined ? undefined : unescaped(quoted)));
    steps.push({ ...(key !== undefined && { key }), deep: dots === '..' || deep !== undefined });
    if (steps.at(-1)?.deep === true && ++deepSteps > 1) throw new PathError(`${JSON.stringify(path)} has ".." more than once`);
  }
  return steps;
}

const unescaped = (text: string): string => text.replaceAll(/\\(.)/g, '$1');

function membersOf(value: unknown, key: string | number | undefined): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  if (key === undefined) return Object.values(value);
  if (Array.isArray(value)) {
    const index = typeof key === 'number' ? key : /^\d{1,9}$/.test(key) ? Number(key) : Number.NaN;
    const at = index < 0 ? value.length + index : index;
    return at in value ? [(value as readonly unknown[])[at]] : [];
  }
  return Object.hasOwn(value, key) ? [(value as Readonly<Record<string, unknown>>)[key]] : [];
}

/** Yields the value itself and all below it. Answers that are nested without end never come here. */
function descendants(value: unknown): readonly unknown[] {
  return typeof value === 'object' && value !== null ? [value, ...Object.values(value).flatMap(descendants)] : [value];
}
