/**
 * Reads a request part against a zod schema the way pydantic v2 would: lax conversions, every failure at once (up to {@link MAX_ISSUES}),
 * pydantic's texts. zod defines what is allowed (and becomes the OpenAPI description); this defines how it is read. Only the zod types that
 * requests use are understood: another one is a defect of the schema and throws.
 */
import { z } from 'zod';

import { isObject } from '../../platform/json.ts';
import { countCodePoints } from './code-points.ts';
import { issues, MAX_ISSUES, type Loc, type ValidationIssue } from './issue.ts';
import { readBoolean, readFloat, readInteger, type Read } from './scalars.ts';

/** A rule over a value that passed its schema; it returns the issues, with `loc` below the value's own. */
export type Rule<T = unknown> = (value: T, loc: Loc) => readonly ValidationIssue[];

const rules = z.registry<{ readonly rule: Rule }>();

/** Attaches a rule that no schema keyword can express. It runs only when the value itself is sound, as pydantic's validators do. */
export function withRule<T extends z.ZodType>(schema: T, rule: Rule<z.output<T>>): T {
  const copy = copyOf(schema);
  rules.add(copy, { rule: rule as Rule });
  return copy;
}

/** Makes another instance that reads the same, with the same texts. */
function copyOf<T extends z.ZodType>(schema: T): T {
  const copy = schema.clone(schema._zod.def);
  const meta = schema.meta();
  if (meta !== undefined) z.globalRegistry.add(copy, meta);
  const rule = rules.get(schema);
  if (rule !== undefined) rules.add(copy, rule);
  return copy;
}

const forbidden = z.registry<{ readonly fields: readonly string[] }>();

/**
 * Reports fields that mean something elsewhere and would be lost here, such as those of another variant. All other fields that a schema
 * doesn't know are ignored.
 */
export function forbidding<T extends z.ZodObject>(schema: T, fields: readonly string[]): T {
  const copy = copyOf(schema);
  const own = new Set(Object.keys(schema.shape));
  forbidden.add(copy, { fields: fields.filter((name) => !own.has(name)) });
  return copy;
}

export type Validated<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly issues: readonly ValidationIssue[] };

/** Deepest nesting of a value that is kept as it is. */
const MAX_DEPTH = 64;

/** @throws TypeError when the schema holds a construct that requests don't use. */
export function validate<T extends z.ZodType>(schema: T, input: unknown, loc: Loc): Validated<z.output<T>> {
  const found: ValidationIssue[] = [];
  const value = read(schema, input, loc, found);
  return found.length === 0 ? { ok: true, value: value as z.output<T> } : { ok: false, issues: found };
}

type Schema = z.core.$ZodType;

function read(schema: Schema, input: unknown, loc: Loc, found: ValidationIssue[]): unknown {
  const before = found.length;
  const value = readType(schema as z.core.$ZodTypes, input, loc, found);
  const rule = rules.get(schema as z.ZodType)?.rule;
  if (rule !== undefined && found.length === before && value !== null && value !== undefined) found.push(...rule(value, loc));
  return value;
}

function readType(schema: z.core.$ZodTypes, input: unknown, loc: Loc, found: ValidationIssue[]): unknown {
  const { def } = schema._zod;
  switch (def.type) {
    case 'optional':
      return input === undefined ? undefined : read(def.innerType, input, loc, found);
    case 'default':
      return input === undefined ? def.defaultValue : read(def.innerType, input, loc, found);
    case 'nullable':
      return input === null ? null : read(def.innerType, input, loc, found);
    case 'object':
      return readModel(def.shape, forbidden.get(schema as z.ZodObject)?.fields ?? [], input, loc, found);
    case 'record':
      return readDictionary(schema as z.core.$ZodRecord, input, loc, found);
    case 'array':
      return readList(def.element, checksOf(schema), input, loc, found);
    case 'string':
      return readString(checksOf(schema), input, loc, found);
    case 'number': {
      const integer = 'format' in def && String(def.format).includes('int');
      return readBounded(integer ? readInteger(input, loc) : readFloat(input, loc), checksOf(schema), loc, found);
    }
    case 'boolean':
      return unwrap(readBoolean(input, loc), found);
    case 'enum':
    case 'literal': {
      const values = def.type === 'enum' ? Object.values(def.entries) : def.values;
      if (values.some((value) => value === input)) return input;
      found.push(issues.notOneOf(loc, values.map(String)));
      return undefined;
    }
    case 'union':
      if ('discriminator' in def) return readTagged(def.options as readonly z.ZodObject[], def.discriminator as string, input, loc, found);
      return readUnion(def.options, input, loc, found);
    case 'unknown':
      return readFree(input, loc, found);
    default:
      throw new TypeError(`request schemas can't hold a zod ${def.type} (at ${loc.join('.')})`);
  }
}

type Check = z.core.$ZodChecks['_zod']['def'];
function checksOf(schema: Schema): readonly Check[] {
  return (schema._zod.def.checks ?? []).map((check) => check._zod.def as Check);
}

function unwrap<T>(result: Read<T>, found: ValidationIssue[]): T | undefined {
  if ('value' in result) return result.value;
  found.push(result.issue);
  return undefined;
}

function readModel(
  shape: Readonly<Record<string, Schema>>,
  forbiddenFields: readonly string[],
  input: unknown,
  loc: Loc,
  found: ValidationIssue[],
): unknown {
  if (!isObject(input)) {
    found.push(issues.notAModel(loc));
    return undefined;
  }
  const entries: [string, unknown][] = [];
  for (const [field, schema] of Object.entries(shape)) {
    if (found.length >= MAX_ISSUES) return undefined;
    const present = Object.hasOwn(input, field);
    if (!present && schema._zod.optin === undefined) {
      found.push(issues.missing([...loc, field]));
      continue;
    }
    const value = read(schema, present ? input[field] : undefined, [...loc, field], found);
    if (value !== undefined) entries.push([field, value]);
  }
  for (const field of Object.keys(input)) if (forbiddenFields.includes(field)) found.push(issues.extra([...loc, field]));
  return Object.fromEntries(entries);
}

/**
 * Reads a map. Its bound is in the schema's metadata, as `maxProperties`: zod's records have no check for it. Sound entries count towards
 * it, and the one too many is reported instead of everything else.
 */
function readDictionary(schema: z.core.$ZodRecord, input: unknown, loc: Loc, found: ValidationIssue[]): unknown {
  if (!isObject(input)) {
    found.push(issues.notADictionary(loc));
    return undefined;
  }
  const max = z.globalRegistry.get(schema)?.['maxProperties'];
  const { keyType, valueType } = schema._zod.def;
  const own: ValidationIssue[] = [];
  const entries: [string, unknown][] = [];
  for (const key of Object.keys(input)) {
    const before = own.length;
    read(keyType, key, [...loc, key, '[key]'], own);
    const value = read(valueType, input[key], [...loc, key], own);
    if (own.length >= MAX_ISSUES) break;
    if (own.length > before) continue;
    entries.push([key, value]);
    if (typeof max === 'number' && entries.length > max) {
      found.push(issues.tooMany(loc, 'Dictionary', max, 'more'));
      return undefined;
    }
  }
  found.push(...own);
  return Object.fromEntries(entries);
}

function readList(element: Schema, checks: readonly Check[], input: unknown, loc: Loc, found: ValidationIssue[]): unknown {
  if (!Array.isArray(input)) {
    found.push(issues.notAList(loc));
    return undefined;
  }
  for (const check of checks) {
    if (check.check === 'max_length' && input.length > check.maximum) {
      found.push(issues.tooMany(loc, 'List', check.maximum, input.length));
      return undefined;
    }
    if (check.check === 'min_length' && input.length < check.minimum) {
      found.push(issues.tooFew(loc, check.minimum, input.length));
      return undefined;
    }
  }
  const items: unknown[] = [];
  for (const [index, item] of input.entries()) {
    if (found.length >= MAX_ISSUES) return undefined;
    items.push(read(element, item, [...loc, index], found));
  }
  return items;
}

function readString(checks: readonly Check[], input: unknown, loc: Loc, found: ValidationIssue[]): unknown {
  if (typeof input !== 'string') {
    found.push(issues.notAString(loc));
    return undefined;
  }
  if (!input.isWellFormed()) {
    found.push(issues.notUnicode(loc));
    return undefined;
  }
  for (const check of checks) {
    const issue = stringIssue(check, input, loc);
    if (issue !== undefined) {
      found.push(issue);
      return undefined;
    }
  }
  // Checks such as trim() change a text that was sound as it was sent.
  return checks.reduce((text, check) => ('tx' in check ? (check.tx as (text: string) => string)(text) : text), input);
}

function stringIssue(check: Check, input: string, loc: Loc): ValidationIssue | undefined {
  if (check.check === 'max_length' && codePoints(input, check.maximum) > check.maximum) return issues.stringTooLong(loc, check.maximum);
  if (check.check === 'min_length' && codePoints(input, check.minimum) < check.minimum) return issues.stringTooShort(loc, check.minimum);
  if (check.check === 'string_format' && check.pattern !== undefined && !check.pattern.test(input)) {
    return issues.patternMismatch(loc, check.pattern.source.replaceAll('\\/', '/'));
  }
  return undefined;
}

/** Counts characters as pydantic and the API server do, and stops once the answer can't change. */
function codePoints(text: string, bound: number): number {
  return text.length > 2 * bound ? text.length : countCodePoints(text);
}

function readBounded(result: Read<number>, checks: readonly Check[], loc: Loc, found: ValidationIssue[]): unknown {
  const value = unwrap(result, found);
  if (value === undefined) return undefined;
  // Upper bounds come first: NaN fails every comparison, and pydantic names that one.
  for (const check of checks.toSorted((a, b) => Number(b.check === 'less_than') - Number(a.check === 'less_than'))) {
    if (check.check === 'less_than' && !(check.inclusive ? value <= Number(check.value) : value < Number(check.value))) {
      found.push(issues.above(loc, Number(check.value), check.inclusive));
      return undefined;
    }
    if (check.check === 'greater_than' && !(check.inclusive ? value >= Number(check.value) : value > Number(check.value))) {
      found.push(issues.below(loc, Number(check.value), check.inclusive));
      return undefined;
    }
  }
  if (Number.isFinite(value)) return value;
  found.push(issues.notFinite(loc));
  return undefined;
}

/** Reads the first alternative that fits without conversion, else the first that fits; pydantic lists the failures of each. */
function readUnion(options: readonly Schema[], input: unknown, loc: Loc, found: ValidationIssue[]): unknown {
  const attempts = options.map((option) => {
    const own: ValidationIssue[] = [];
    return { value: read(option, input, [...loc, unionLabel(option)], own), issues: own };
  });
  const sound = attempts.filter((attempt) => attempt.issues.length === 0);
  const best = sound.find((attempt) => attempt.value === input) ?? sound[0];
  if (best !== undefined) return best.value;
  found.push(...attempts.flatMap((attempt) => attempt.issues));
  return undefined;
}

/** Reads the variant that the field `discriminator` names, or where that is absent the one that has it as a default. */
function readTagged(options: readonly z.ZodObject[], discriminator: string, input: unknown, loc: Loc, found: ValidationIssue[]): unknown {
  if (!isObject(input)) {
    found.push(issues.notAModel(loc));
    return undefined;
  }
  const tagOf = (option: z.ZodObject) => option.shape[discriminator] as z.core.$ZodTypes;
  const tag = Object.hasOwn(input, discriminator)
    ? input[discriminator]
    : options.map((option) => tagOf(option)._zod.def).find((def) => def.type === 'default')?.defaultValue;
  if (tag === undefined) {
    found.push(issues.noTag(loc, discriminator));
    return undefined;
  }
  const option = typeof tag === 'string' ? options.find((each) => tagOf(each)._zod.values?.has(tag) === true) : undefined;
  if (option !== undefined) return read(option, input, [...loc, tag as string], found);
  const tags = options.flatMap((each) => [...(tagOf(each)._zod.values ?? [])].filter((value) => value !== undefined).map(String));
  found.push(issues.wrongTag(loc, discriminator, tag, tags));
  return undefined;
}

function unionLabel(option: Schema): string {
  const { def } = (option as z.core.$ZodTypes)._zod;
  const constrained = checksOf(option).some(({ check }) => check !== 'number_format') ? 'constrained-' : '';
  if (def.type === 'number') return constrained + ('format' in def && String(def.format).includes('int') ? 'int' : 'float');
  if (def.type === 'string') return `${constrained}str`;
  return def.type === 'boolean' ? 'bool' : def.type;
}

/** Keeps a value as it is, if it can be kept: JSON has no infinity (`1e999`) and no half characters. */
function readFree(input: unknown, loc: Loc, found: ValidationIssue[]): unknown {
  const seen: Seen = { bigint: false };
  const fault = freeFault(input, MAX_DEPTH, seen);
  if (fault === undefined) return seen.bigint ? withoutBigints(input) : input;
  found.push(
    fault === 'depth'
      ? issues.value(loc, `values may be nested at most ${MAX_DEPTH} levels deep`)
      : fault === 'number'
        ? issues.notFinite(loc)
        : issues.notUnicode(loc),
  );
  return undefined;
}

/** Replaces bigints by doubles: kept values are JSON again, which has no others. */
function withoutBigints(input: unknown): unknown {
  if (typeof input === 'bigint') return Number(input);
  if (typeof input !== 'object' || input === null) return input;
  if (Array.isArray(input)) return input.map(withoutBigints);
  return Object.fromEntries(Object.entries(input).map(([key, value]) => [key, withoutBigints(value)]));
}

/** Finding of {@link freeFault}: large values are copied only where there is a bigint. */
interface Seen {
  bigint: boolean;
}

function freeFault(input: unknown, left: number, seen: Seen): 'depth' | 'number' | 'text' | undefined {
  if (typeof input === 'bigint') seen.bigint = true;
  if (typeof input === 'number') return Number.isFinite(input) ? undefined : 'number';
  if (typeof input === 'string') return input.isWellFormed() ? undefined : 'text';
  if (typeof input !== 'object' || input === null) return undefined;
  if (left === 0) return 'depth';
  for (const [key, value] of Object.entries(input)) {
    const fault = key.isWellFormed() ? freeFault(value, left - 1, seen) : 'text';
    if (fault !== undefined) return fault;
  }
  return undefined;
}
