/** Reads plain values as pydantic's lax mode does. Source: https://docs.pydantic.dev/latest/concepts/conversion_table/ */
import { issues, type Loc, type ValidationIssue } from './issue.ts';

export type Read<T> = { readonly value: T } | { readonly issue: ValidationIssue };

const INTEGER_TEXT = /^\s*[+-]?\d+(_\d+)*(\.0+)?\s*$/;
/** No two neighbouring parts can match the same digits: a long text that is no number is refused in one pass. */
const FLOAT_TEXT = /^\s*[+-]?(\d+(_\d+)*(\.(\d+(_\d+)*)?)?|\.\d+(_\d+)*)([eE][+-]?\d+(_\d+)*)?\s*$/;
const NOT_FINITE_TEXT = /^\s*([+-]?)(inf|infinity|nan)\s*$/i;
const yes = new Set(['1', 'true', 't', 'yes', 'y', 'on']);
const no = new Set(['0', 'false', 'f', 'no', 'n', 'off']);

export function readInteger(input: unknown, loc: Loc): Read<number> {
  if (typeof input === 'boolean') return { value: input ? 1 : 0 };
  if (typeof input === 'bigint') return { value: Number(input) };
  if (typeof input === 'number') {
    if (!Number.isFinite(input)) return { issue: issues.notFinite(loc) };
    if (Math.abs(input) >= 2 ** 63) return { issue: issues.integerTooLarge(loc) };
    return Number.isInteger(input) ? { value: input } : { issue: issues.integerWithFraction(loc) };
  }
  if (typeof input !== 'string') return { issue: issues.notAnInteger(loc) };
  return INTEGER_TEXT.test(input) ? { value: Number(input.replaceAll('_', '')) } : { issue: issues.integerUnparsable(loc) };
}

export function readFloat(input: unknown, loc: Loc): Read<number> {
  if (typeof input === 'number') return { value: input };
  if (typeof input === 'bigint') return { value: Number(input) };
  if (typeof input === 'boolean') return { value: input ? 1 : 0 };
  if (typeof input !== 'string') return { issue: issues.notANumber(loc) };
  if (FLOAT_TEXT.test(input)) return { value: Number(input.replaceAll('_', '')) };
  const special = NOT_FINITE_TEXT.exec(input);
  if (special === null) return { issue: issues.numberUnparsable(loc) };
  if (special[2]?.toLowerCase() === 'nan') return { value: Number.NaN };
  return { value: special[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY };
}

export function readBoolean(input: unknown, loc: Loc): Read<boolean> {
  if (typeof input === 'boolean') return { value: input };
  if (input === 1 || input === 0) return { value: input === 1 };
  if (typeof input === 'number') {
    const integer = Number.isInteger(input) && Math.abs(input) < 2 ** 63;
    return { issue: integer ? issues.booleanUnparsable(loc) : issues.notABoolean(loc) };
  }
  if (typeof input !== 'string') return { issue: issues.notABoolean(loc) };
  const word = input.toLowerCase();
  if (yes.has(word)) return { value: true };
  return no.has(word) ? { value: false } : { issue: issues.booleanUnparsable(loc) };
}
