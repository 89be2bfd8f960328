/** Reads the `metadata` of an upload: a JSON object of plain values in a form field. Pure. */
import { isObject, parseJson } from '../../platform/json.ts';
import { DOCUMENT_ID } from '../../knowledge/search/chunk-metadata.ts';
import { FILTER_KEY } from '../../knowledge/search-filter.ts';
import { MOST_OWN_FIELDS } from '../../knowledge/vector-stores/check-arguments.ts';
import type { Scalar } from '../../knowledge/vector-stores/vector-store.ts';
import type { FieldValue } from '../http/forms.ts';
import { issues, type ValidationIssue } from '../validation/issue.ts';
import { MAX_METADATA_BYTES } from './schema.ts';

const loc = ['body', 'metadata'];

export type ReadMetadata =
  | { readonly ok: true; readonly metadata: Readonly<Record<string, Scalar>> }
  | { readonly ok: false; readonly issue: ValidationIssue };

export function readMetadata(field: FieldValue): ReadMetadata {
  const text = 'text' in field ? field.text : JSON.stringify(field.json);
  if (Buffer.byteLength(text) > MAX_METADATA_BYTES || ('text' in field && field.truncated))
    return refused(`metadata may have ${MAX_METADATA_BYTES / 1024} KiB`);
  // Forms send an empty field like this.
  if (text.trim() === '') return { ok: true, metadata: {} };
  const value = 'text' in field ? parseJson(field.text) : field.json;
  if (value === undefined) return { ok: false, issue: brokenMetadata };
  if (!isObject(value)) return { ok: false, issue: issues.notADictionary(loc) };
  const entries = Object.entries(value);
  if (entries.length > MOST_OWN_FIELDS) return refused(`metadata may have ${MOST_OWN_FIELDS} fields, not ${entries.length}`);
  for (const [key, item] of entries) {
    const fault = entryFault(key, item);
    if (fault !== undefined) return refused(`${JSON.stringify(key.slice(0, 64).toWellFormed())} ${fault}`);
  }
  return { ok: true, metadata: Object.fromEntries(entries) as Readonly<Record<string, Scalar>> };
}

/** The issue of metadata that isn't JSON at all. */
export const brokenMetadata: ValidationIssue = { type: 'json_invalid', loc, msg: 'JSON decode error' };

function refused(reason: string): ReadMetadata {
  return { ok: false, issue: issues.value(loc, reason) };
}

function entryFault(key: string, value: unknown): string | undefined {
  if (!FILTER_KEY.test(key)) return 'is no name that a filter could ask for: it has 1 to 64 letters, digits, and the characters _ . -';
  if (key === DOCUMENT_ID) return 'is the id that Parley gives the document, which filters ask for: choose another name';
  if (typeof value === 'string')
    return isStorable(value) ? undefined : 'has a text that can not be kept: U+0000 and half characters can not';
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : 'has a number that is too large';
  return typeof value === 'boolean' ? undefined : 'has to be a text, a number or a boolean';
}

/** Returns whether Postgres keeps the text: it takes neither U+0000 nor half characters. */
function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\u0000');
}
