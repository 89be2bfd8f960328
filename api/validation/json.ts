/**
 * Parses JSON bodies. A syntax error is reported with the position that Python's `json` module gives, because clients of a FastAPI service
 * know that. Source: CPython 3.12, Modules/_json.c (3.13 moved the position of a trailing comma; servers in the field mostly answer the
 * older one).
 */

import { countCodePoints } from './code-points.ts';

/** Integers of 2^63 and more, written as integers, are bigints. */
export type ParsedJson = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly offset: number };

/** Parses a body. `offset` counts characters (code points) from the beginning of the text. */
export function parseJson(body: Uint8Array): ParsedJson {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    const broken = new TextDecoder().decode(body);
    return { ok: false, offset: countCodePoints(broken, broken.indexOf('\ufffd')) };
  }
  try {
    // Only a text with a number this long can hold an integer that is too large, and asking for sources costs.
    return { ok: true, value: (/\d{19}/.test(text) ? JSON.parse(text, keepLargeIntegers) : JSON.parse(text)) as unknown };
  } catch {
    return { ok: false, offset: countCodePoints(text, errorOffset(text)) };
  }
}

const EXACT_DIGITS = 400;

/**
 * Turns an integer of 2^63 and more into a bigint: Python distinguishes integers of any size from fractions by their notation, and pydantic
 * goes on from there. An integer with so many digits that reading them all would take long is exact as far as a double is.
 */
function keepLargeIntegers(_key: string, read: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source ?? '';
  if (typeof read !== 'number' || Math.abs(read) < 2 ** 63 || !/^-?\d+$/.test(source)) return read;
  if (source.length <= EXACT_DIGITS) return BigInt(source);
  return BigInt(Number.isFinite(read) ? read : Math.sign(read) * Number.MAX_VALUE);
}

const WHITESPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/y;
// oxlint-disable-next-line no-control-regex -- JSON's own grammar speaks of control characters.
const PLAIN = /[^"\\\u0000-\u001f]*/y;
/** Words of JSON. Python reads NaN and the infinities, too; they are no JSON, and end the search. */
const words = ['null', 'true', 'false'];
const DEEPEST = 1000;

/** Thrown inside the search only: `at` is the place where the text stops being JSON. */
class JsonSyntaxError extends Error {
  readonly at: number;
  constructor(at: number) {
    super();
    this.at = at;
  }
}

function errorOffset(text: string): number {
  try {
    return skip(text, value(text, skip(text, 0), 0));
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error.at;
    throw error;
  }
}

function match(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

function skip(text: string, at: number): number {
  return match(WHITESPACE, text, at);
}

function value(text: string, at: number, depth: number): number {
  if (depth > DEEPEST) throw new JsonSyntaxError(at);
  const first = text[at];
  if (first === '"') return string(text, at);
  if (first === '{') return object(text, at, depth);
  if (first === '[') return array(text, at, depth);
  const word = words.find((candidate) => text.startsWith(candidate, at));
  if (word !== undefined) return at + word.length;
  const end = match(NUMBER, text, at);
  if (end === at) throw new JsonSyntaxError(at);
  return end;
}

function object(text: string, start: number, depth: number): number {
  let at = skip(text, start + 1);
  if (text[at] === '}') return at + 1;
  for (;;) {
    if (text[at] !== '"') throw new JsonSyntaxError(at);
    at = skip(text, string(text, at));
    if (text[at] !== ':') throw new JsonSyntaxError(at);
    at = skip(text, value(text, skip(text, at + 1), depth + 1));
    if (text[at] === '}') return at + 1;
    if (text[at] !== ',') throw new JsonSyntaxError(at);
    at = skip(text, at + 1);
  }
}

function array(text: string, start: number, depth: number): number {
  let at = skip(text, start + 1);
  if (text[at] === ']') return at + 1;
  for (;;) {
    at = skip(text, value(text, at, depth + 1));
    if (text[at] === ']') return at + 1;
    if (text[at] !== ',') throw new JsonSyntaxError(at);
    at = skip(text, at + 1);
  }
}

function string(text: string, start: number): number {
  let at = start + 1;
  for (;;) {
    at = match(PLAIN, text, at);
    const next = text[at];
    if (next === undefined) throw new JsonSyntaxError(start);
    if (next === '"') return at + 1;
    if (next !== '\\') throw new JsonSyntaxError(at);
    const escape = text[at + 1];
    if (escape === undefined) throw new JsonSyntaxError(start);
    if (escape === 'u') {
      // An escape that reaches the end of the text is reported before the string that doesn't end.
      if (at + 6 >= text.length || !/^[0-9a-fA-F]{4}$/.test(text.slice(at + 2, at + 6))) throw new JsonSyntaxError(at + 1);
      at += 6;
    } else if ('"\\/bfnrt'.includes(escape)) {
      at += 2;
    } else {
      throw new JsonSyntaxError(at);
    }
  }
}
