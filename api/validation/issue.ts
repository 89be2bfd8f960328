import { cutText } from '../../platform/cut-text.ts';

/** Location of a value in the request: `body`, `query`, `path` or `header`, then field names and list positions. */
export type Loc = readonly (string | number)[];

/** One failed part of a request, in the contract's form: `type` and `msg` are pydantic v2's. */
export interface ValidationIssue {
  readonly type: string;
  readonly loc: Loc;
  readonly msg: string;
}

/** Most failures that one answer names. Reading a request ends with the last of them: a body has room for a hundred thousand. */
export const MAX_ISSUES = 100;

/** Longest part of a request that an answer repeats, in characters: a name in a body may be as long as the body. */
const ECHO_CHARACTERS = 1000;

/** Returns the first {@link MAX_ISSUES}, with names and texts of the request cut to a length that a person reads. */
export function answerable(found: readonly ValidationIssue[]): readonly ValidationIssue[] {
  return found.slice(0, MAX_ISSUES).map(({ type, loc, msg }) => ({
    type,
    loc: loc.map((part) => (typeof part === 'string' ? cut(part) : part)),
    msg: cutText(msg, 3 * ECHO_CHARACTERS),
  }));
}

const cut = (text: string): string => cutText(text, ECHO_CHARACTERS);

/** Lists alternatives as pydantic does: `'a', 'b' or 'c'`. */
export function alternatives(values: readonly string[]): string {
  const quoted = values.map((value) => `'${value}'`);
  const last = quoted.pop() ?? '';
  return quoted.length === 0 ? last : `${quoted.join(', ')} or ${last}`;
}

/** Builds every failure that this API reports. Texts are pydantic 2's; `test` compares them with a recording of the real thing. */
export const issues = {
  missing: (loc: Loc): ValidationIssue => ({ type: 'missing', loc, msg: 'Field required' }),
  notAModel: (loc: Loc): ValidationIssue => ({
    type: 'model_attributes_type',
    loc,
    msg: 'Input should be a valid dictionary or object to extract fields from',
  }),
  notADictionary: (loc: Loc): ValidationIssue => ({ type: 'dict_type', loc, msg: 'Input should be a valid dictionary' }),
  notAList: (loc: Loc): ValidationIssue => ({ type: 'list_type', loc, msg: 'Input should be a valid list' }),
  notAString: (loc: Loc): ValidationIssue => ({ type: 'string_type', loc, msg: 'Input should be a valid string' }),
  notUnicode: (loc: Loc): ValidationIssue => ({
    type: 'string_unicode',
    loc,
    msg: 'Input should be a valid string, unable to parse raw data as a unicode string',
  }),
  stringTooShort: (loc: Loc, min: number): ValidationIssue => ({
    type: 'string_too_short',
    loc,
    msg: `String should have at least ${count(min, 'character')}`,
  }),
  stringTooLong: (loc: Loc, max: number): ValidationIssue => ({
    type: 'string_too_long',
    loc,
    msg: `String should have at most ${count(max, 'character')}`,
  }),
  patternMismatch: (loc: Loc, pattern: string): ValidationIssue => ({
    type: 'string_pattern_mismatch',
    loc,
    msg: `String should match pattern '${pattern}'`,
  }),
  notAnInteger: (loc: Loc): ValidationIssue => ({ type: 'int_type', loc, msg: 'Input should be a valid integer' }),
  integerUnparsable: (loc: Loc): ValidationIssue => ({
    type: 'int_parsing',
    loc,
    msg: 'Input should be a valid integer, unable to parse string as an integer',
  }),
  integerTooLarge: (loc: Loc): ValidationIssue => ({
    type: 'int_parsing_size',
    loc,
    msg: 'Unable to parse input string as an integer, exceeded maximum size',
  }),
  integerWithFraction: (loc: Loc): ValidationIssue => ({
    type: 'int_from_float',
    loc,
    msg: 'Input should be a valid integer, got a number with a fractional part',
  }),
  notFinite: (loc: Loc): ValidationIssue => ({ type: 'finite_number', loc, msg: 'Input should be a finite number' }),
  notANumber: (loc: Loc): ValidationIssue => ({ type: 'float_type', loc, msg: 'Input should be a valid number' }),
  numberUnparsable: (loc: Loc): ValidationIssue => ({
    type: 'float_parsing',
    loc,
    msg: 'Input should be a valid number, unable to parse string as a number',
  }),
  notABoolean: (loc: Loc): ValidationIssue => ({ type: 'bool_type', loc, msg: 'Input should be a valid boolean' }),
  booleanUnparsable: (loc: Loc): ValidationIssue => ({
    type: 'bool_parsing',
    loc,
    msg: 'Input should be a valid boolean, unable to interpret input',
  }),
  below: (loc: Loc, min: number, inclusive = true): ValidationIssue =>
    inclusive
      ? { type: 'greater_than_equal', loc, msg: `Input should be greater than or equal to ${min}` }
      : { type: 'greater_than', loc, msg: `Input should be greater than ${min}` },
  above: (loc: Loc, max: number, inclusive = true): ValidationIssue =>
    inclusive
      ? { type: 'less_than_equal', loc, msg: `Input should be less than or equal to ${max}` }
      : { type: 'less_than', loc, msg: `Input should be less than ${max}` },
  notOneOf: (loc: Loc, values: readonly string[]): ValidationIssue => ({
    type: 'literal_error',
    loc,
    msg: `Input should be ${alternatives(values)}`,
  }),
  extra: (loc: Loc): ValidationIssue => ({ type: 'extra_forbidden', loc, msg: 'Extra inputs are not permitted' }),
  noTag: (loc: Loc, discriminator: string): ValidationIssue => ({
    type: 'union_tag_not_found',
    loc,
    msg: `Unable to extract tag using discriminator '${discriminator}'`,
  }),
  wrongTag: (loc: Loc, discriminator: string, tag: unknown, tags: readonly string[]): ValidationIssue => ({
    type: 'union_tag_invalid',
    loc,
    msg: `Input tag '${pythonText(tag)}' found using '${discriminator}' does not match any of the expected tags: ${tags.map((each) => `'${each}'`).join(', ')}`,
  }),
  tooMany: (loc: Loc, what: 'List' | 'Dictionary', max: number, actual: number | 'more'): ValidationIssue => ({
    type: 'too_long',
    loc,
    msg: `${what} should have at most ${count(max, 'item')} after validation, not ${actual}`,
  }),
  tooFew: (loc: Loc, min: number, actual: number): ValidationIssue => ({
    type: 'too_short',
    loc,
    msg: `List should have at least ${count(min, 'item')} after validation, not ${actual}`,
  }),
  jsonInvalid: (offset: number): ValidationIssue => ({ type: 'json_invalid', loc: ['body', offset], msg: 'JSON decode error' }),
  /** Reports a violation of a rule that no schema keyword can express. */
  value: (loc: Loc, reason: string): ValidationIssue => ({ type: 'value_error', loc, msg: `Value error, ${reason}` }),
};

/** Prints a sent value as pydantic does: Python's `str`, as far as it is shown. */
function pythonText(value: unknown, nested = 0): string {
  if (typeof value === 'string') return nested === 0 ? cut(value) : pythonString(cut(value));
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number') return pythonNumber(value);
  if (typeof value !== 'object') return JSON.stringify(value) ?? '';
  // Deeper values are unreadable, and the stack is limited.
  if (nested > 8) return '...';
  if (Array.isArray(value)) return `[${joined(value, (item) => pythonText(item, nested + 1))}]`;
  return `{${joined(Object.entries(value), ([name, item]) => `${pythonString(cut(name))}: ${pythonText(item, nested + 1)}`)}}`;
}

/** Joins items, and ends with the item that makes the text too long. */
function joined<T>(items: readonly T[], text: (item: T) => string): string {
  let all = '';
  for (const item of items) {
    if (all.length > ECHO_CHARACTERS) return `${all}, …`;
    all += (all === '' ? '' : ', ') + text(item);
  }
  return all;
}

const pythonEscapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Writes Python's `repr` of a text, with unprintable characters escaped. */
function pythonString(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replaceAll(/[\\']|(?! )[\p{C}\p{Z}]/gu, (character) => {
    if (character === "'") return quote === "'" ? "\\'" : "'";
    const known = pythonEscapes[character];
    if (known !== undefined) return known;
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x100) return `\\x${code.toString(16).padStart(2, '0')}`;
    return code < 0x1_0000 ? `\\u${code.toString(16).padStart(4, '0')}` : `\\U${code.toString(16).padStart(8, '0')}`;
  });
  return quote + escaped + quote;
}

/** Writes Python's `repr` of a number: it begins to write exponents at other sizes, and with two digits at least. */
function pythonNumber(value: number): string {
  const size = Math.abs(value);
  const exponential = !Number.isInteger(value) && (size >= 1e16 || size < 1e-4);
  const text = exponential ? value.toExponential() : String(value);
  return text.replace(/e([+-])(\d)$/, 'e$10$2');
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}
