/** Parses JSON of foreign servers. */
import type { JsonValue } from '../tool-result.ts';

/** Most levels of lists and objects. */
const MAX_DEPTH = 64;

/** Parses JSON. Whole numbers that JavaScript would round become texts: they are ids. @returns undefined for invalid JSON */
export function parseJson(text: string): JsonValue | undefined {
  try {
    const value = JSON.parse(text) as JsonValue;
    // The second parse is recursive.
    return /\d{16}/.test(text) && !isNestedDeeply(value) ? (JSON.parse(text, exact) as JsonValue) : value;
  } catch {
    return undefined;
  }
}

function exact(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const exactly = typeof value !== 'number' || Number.isSafeInteger(value) || !/^-?\d+$/.test(context?.source ?? '');
  return exactly ? value : context?.source;
}

/** Returns whether JSON is nested too deeply. Looks level by level, never recursing. */
export function isNestedDeeply(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return true;
    level = level.flatMap((node) => (typeof node === 'object' && node !== null ? (Object.values(node) as unknown[]) : []));
  }
  return false;
}
