/** Words the warnings about parts of a request that nothing reads. */
import { cutText } from '../../platform/cut-text.ts';
import type { Loc } from './issue.ts';
import type { UnknownField } from './unknown-fields.ts';

/** Most characters of a path that are shown. */
const LONGEST_PATH = 128;

/** @param most how many fields are named; one more warning stands for the rest */
export function unknownFieldWarnings(fields: readonly UnknownField[], most: number): readonly string[] {
  const named = fields.slice(0, most).map(({ path, similar }) => {
    const cure = similar === undefined ? '' : `: did you mean ${JSON.stringify(similar)}?`;
    return `unknown field ${JSON.stringify(pathText(path))}${cure}`;
  });
  return fields.length > most ? [...named, 'there are more unknown fields'] : named;
}

/** Words the warning about a field that only answers have, with another value than the stored one. */
export const readOnlyWarning = (path: Loc): string => `${JSON.stringify(pathText(path))} can't be changed: it stays as it is`;

/** Writes a path as `llm.tools[0].nam`. */
export function pathText(path: Loc): string {
  const text = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  const bare = text.replace(/^\./, '').toWellFormed();
  return cutText(bare, LONGEST_PATH);
}

/**
 * Writes a `Warning` header as the API server of Kubernetes does: `299 - "unknown field \"a\""`. Characters beyond printable ASCII are
 * escaped as in JSON. Source: RFC 7234, section 5.5.
 */
export function warningHeader(text: string): string {
  const ascii = text.replaceAll(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `299 - "${ascii.replaceAll(/["\\]/g, '\\$&')}"`;
}
