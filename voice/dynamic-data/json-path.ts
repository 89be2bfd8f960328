/** Paths into an answer, as RFC 9535 writes them. */
import { JSONPathError, jsonpath } from 'json-p3';

/** A path that can't be read. The message says where. */
export class PathError extends Error {
  override readonly name = 'PathError';
}

/**
 * What a path leads to: the value itself where it can lead to one place only, the list of all values otherwise (`$.orders[*].id`).
 * `$.` may be left out: `customer.name`.
 *
 * @returns undefined where it leads nowhere
 * @throws PathError
 */
export function valueAt(path: string, answer: unknown): unknown {
  const trimmed = path.trim();
  const whole = trimmed.startsWith('$') ? trimmed : trimmed.startsWith('[') ? `$${trimmed}` : `$.${trimmed}`;
  try {
    const query = jsonpath.compile(whole);
    const values = query.query(answer as Parameters<typeof query.query>[0]).values();
    return query.singularQuery() ? values[0] : values.length === 0 ? undefined : values;
  } catch (error) {
    if (!(error instanceof JSONPathError)) throw error;
    throw new PathError(`${JSON.stringify(path)} is no JSON path: ${error.message}`);
  }
}
