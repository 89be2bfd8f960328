/**
 * Describes each REST field of a kind once: its schemas, its path in the spec, and how its value is read and written. Bodies, answers,
 * names in failures, references to Secrets and both codecs are derived from such a table. Its order is that of bodies and answers.
 */
import { z } from 'zod';

import type { FieldNames } from '../partial/field-names.ts';
import { isObject, sameJson } from '../../platform/json.ts';
import { issues, type Loc, type ValidationIssue } from '../validation/issue.ts';
import type { Draft } from './draft.ts';
import { movedSecrets, type Origin, type SecretUse } from './secret-origins.ts';
import type { KeyRef, SecretValues, SecretWriter } from './secrets.ts';

export interface Decoding {
  readonly secrets: SecretValues;
}

export interface Encoding {
  readonly secrets: SecretWriter;
  readonly loc: Loc;
  /** Failures that writing has found; it adds to them. */
  readonly found: ValidationIssue[];
  /** `metadata.name`, which names an object without a name of its own. */
  readonly objectName?: string | undefined;
}

/** The result of a conversion: lists are never changed in place. */
export type Written<T> = T extends readonly (infer Item)[] ? readonly Item[] : Draft<T>;

/** Converts a value of the spec to REST's and back. Neither direction is called for an absent value. */
export interface Conversion<Stored, Sent, Shown = Sent, Writing extends Encoding = Encoding, Within = unknown> {
  /** Makes the schema of a request's value, with the bounds of the stored one. */
  body(stored: z.ZodType<Stored>): z.ZodType<Sent>;
  answer(stored: z.ZodType<Stored>): z.ZodType<Shown>;
  read(stored: Stored, reading: Decoding): Shown | undefined;
  /** @param at the name of the field in the request, the stored value, and the stored spec or list item that holds it */
  write(
    sent: Sent,
    at: { readonly name: string; readonly stored: Stored | undefined; readonly within: Within },
    encoding: Writing,
  ): Written<Stored> | undefined;
  /** Text that is added to the resource's, for the unit. */
  readonly unit?: string;
  /** Text that is added to an answer's. */
  readonly shown?: string;
  /** Maps ends of paths below the field's own to their names: `.name` of a reference has the name of the reference. */
  readonly below?: Readonly<Record<string, string>>;
  secretsIn?(stored: Stored, encoding?: Writing): readonly StoredSecret[];
  /** Fields of an item, where the value is a list. */
  readonly items?: Fields;
}

export interface StoredSecret {
  readonly id: string;
  /** Absent where the value is in the spec itself. */
  readonly ref?: KeyRef;
  /** Location of the value in the request, below the field. */
  readonly below?: Loc;
}

/** Rules of a field for the codec; their functions get a spec, or a list item. */
export interface FieldRules<Spec> {
  /** Other paths of the spec that have the same name in REST. */
  readonly also?: readonly string[];
  /** Value that is answered where nothing is stored, and that therefore isn't written there. */
  readonly empty?: unknown;
  /** Value that is written where nothing is stored or sent, though the API server fills it in: that value would have no owner. */
  readonly default?: unknown;
  /** Reason why the field can't change once the object exists. */
  readonly fixed?: string;
  /** Returns where the secrets of the value are sent, by the names of the fields that decide it. */
  sentTo?(spec: Spec): Origin | undefined;
  /** Returns secrets without a field in the request that this field sends elsewhere: destinations, and references to them. */
  uses?(spec: Spec): readonly (Pick<SecretUse, 'id' | 'origin'> & Pick<StoredSecret, 'ref'>)[];
}

/** A field without its types, for the codec; `fieldsOf` makes it of typed functions. */
export interface Field extends FieldRules<unknown> {
  /** Path in the spec: `sip.terminationURI`. Absent where the spec has no such field. */
  readonly path?: string;
  readonly names?: readonly string[];
  /** Schema of the value in a body that makes an object; absent where none has it. */
  readonly create?: z.ZodType | undefined;
  /** Schema of the value in a body that changes an object; that of `create` where absent. */
  readonly update?: z.ZodType | undefined;
  readonly answer?: z.ZodType | undefined;
  /** Converts the value; where absent, the value is the same on both sides. */
  readonly as?: Conversion<unknown, unknown>;
  /** Returns the answered value, instead of `path` and `as`. */
  read?(object: unknown, reading: unknown): unknown;
  /** Returns, instead of `path` and `as`, the spec with the sent value: undefined where none was sent, null to clear the field. */
  write?(sent: unknown, spec: unknown, encoding: unknown, body: unknown): unknown;
}

export interface Group extends Pick<Field, 'path' | 'names' | 'also' | 'create' | 'update' | 'answer'> {
  readonly fields: Fields;
}

export type Fields = Readonly<Record<string, Field | Group>>;

export type Shape<F, Part extends string> = {
  -readonly [K in keyof F as F[K] extends Readonly<Record<Part, z.ZodType>> ? K : never]: F[K] extends Readonly<
    Record<Part, infer S extends z.ZodType>
  >
    ? S
    : never;
};
export type UpdateShape<F> = {
  -readonly [K in keyof F as F[K] extends { readonly update: z.ZodType } | { readonly create: z.ZodType } ? K : never]: F[K] extends {
    readonly update: infer S extends z.ZodType;
  }
    ? S
    : F[K] extends { readonly create: infer S extends z.ZodType }
      ? S
      : never;
};

function shapeBy(fields: Fields, schemaOf: (each: Field | Group) => z.ZodType | undefined): object {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, each]) => {
      const schema = schemaOf(each);
      return schema === undefined ? [] : [[name, schema]];
    }),
  );
}

export function createShape<F extends Fields>(fields: F): Shape<F, 'create'> {
  return shapeBy(fields, ({ create }) => create) as Shape<F, 'create'>;
}

export function updateShape<F extends Fields>(fields: F): UpdateShape<F> {
  return shapeBy(fields, ({ create, update }) => update ?? create) as UpdateShape<F>;
}

export function answerShape<F extends Fields>(fields: F): Shape<F, 'answer'> {
  return shapeBy(fields, ({ answer }) => answer) as Shape<F, 'answer'>;
}

export function inOrder<S extends object>(shape: S, order: readonly (keyof S)[]): S {
  return { ...Object.fromEntries(order.map((name) => [name, shape[name]])), ...shape };
}

interface Leaf {
  readonly name: string;
  readonly field: Field;
}

function leaves(fields: Fields, prefix = ''): readonly Leaf[] {
  return Object.entries(fields).flatMap(([name, each]): readonly Leaf[] =>
    'fields' in each ? leaves(each.fields, `${prefix}${name}.`) : [{ name: prefix + name, field: each }],
  );
}

/** Maps paths of the spec to names in REST. */
export function fieldNamesOf(fields: Fields): FieldNames {
  return Object.fromEntries(namesOf(fields, ''));
}

function* namesOf(fields: Fields, prefix: string): Generator<readonly [path: string, name: string]> {
  for (const [key, each] of Object.entries(fields)) {
    const name = prefix + key;
    const below = 'fields' in each ? {} : (each.as?.below ?? {});
    for (const path of [each.path, ...(each.also ?? [])]) {
      if (path === undefined) continue;
      yield [path, name];
      for (const [end, rest] of Object.entries(below)) yield [path + end, name + rest];
    }
    if ('fields' in each) yield* namesOf(each.fields, `${name}.`);
  }
}

/** Returns the stored fields of an answer. */
export function readFields(fields: Fields, object: { readonly spec: unknown }, reading: Decoding): Readonly<Record<string, unknown>> {
  const answer: Record<string, unknown> = {};
  for (const [name, each] of Object.entries(fields)) {
    if (each.answer === undefined) continue;
    const value = 'fields' in each ? readGroup(each, object, reading) : readField(each, object, reading);
    if (value !== undefined) answer[name] = value;
  }
  return answer;
}

/** Reads a group; one that may be absent is undefined where none of its fields is stored. */
function readGroup(each: Group, object: { readonly spec: unknown }, reading: Decoding): unknown {
  const isAbsent = each.answer instanceof z.ZodOptional && storedIn(object.spec, each) === undefined;
  return isAbsent ? undefined : readFields(each.fields, object, reading);
}

function readField(each: Field, object: { readonly spec: unknown }, reading: Decoding): unknown {
  if (each.read !== undefined) {
    const value = each.read(object, reading);
    return value === undefined ? each.empty : value;
  }
  const stored = storedIn(object.spec, each);
  if (stored === undefined) return each.empty;
  return each.as === undefined ? stored : each.as.read(stored, reading);
}

/**
 * Returns the spec that the request wants: an absent field keeps its value, `null` clears it. Failures are added to `encoding.found`.
 * @param previous the stored spec; everything in it stays that the request doesn't name
 * @param rule a rule that no single field can express
 */
export function writeFields<S>(
  fields: Fields,
  body: object,
  previous: S | undefined,
  encoding: Encoding,
  rule?: (desired: Draft<S>) => readonly ValidationIssue[],
): Draft<S> {
  const desired = writeEach(fields, body, previous, encoding) as Draft<S>;
  encoding.found.push(...(rule?.(desired) ?? []));
  if (previous !== undefined)
    encoding.found.push(
      ...movedSecrets([...secretUses(fields, previous, encoding)], [...secretUses(fields, desired, encoding)], encoding.secrets),
    );
  return desired;
}

/** @param whole whether fields that the body doesn't name are unset */
export function writeEach(fields: Fields, body: object, previous: unknown, encoding: Encoding, whole = false): unknown {
  let spec = previous;
  for (const { name, field: each } of leaves(fields)) {
    const sent = sentAt(body, name);
    if (each.write !== undefined) spec = each.write(sent, spec, encoding, body);
    else if (each.names !== undefined) {
      const value = sent === undefined && whole ? unset(each, previous) : written(each, name, sent, previous, encoding);
      if (value !== storedIn(spec, each)) spec = withValueAt(spec, previous, each.names, value);
    }
  }
  return spec ?? {};
}

function written(each: Field, name: string, sent: unknown, previous: unknown, encoding: Encoding): unknown {
  const { fixed, as, empty } = each;
  const stored = storedIn(previous, each);
  if (fixed !== undefined && previous !== undefined) {
    if (sent !== undefined && !sameJson(sent, stored)) encoding.found.push(issues.value([...encoding.loc, ...name.split('.')], fixed));
    return stored ?? each.default;
  }
  if (sent === undefined) return stored ?? each.default;
  // A stored null is a value.
  if (sent === null) return stored === null ? null : unset(each, previous);
  if (stored === undefined && empty !== undefined && sameJson(sent, empty)) return each.default;
  return (as === undefined ? sent : as.write(sent, { name, stored, within: previous }, encoding)) ?? each.default;
}

/** Returns the value of an unset field. A stored value that reads as unset stays as it was written. */
function unset(each: Field, previous: unknown): unknown {
  const stored = storedIn(previous, each);
  return isEmpty(stored) ? stored : each.default;
}

/** Finds for each sent item the stored one that it continues: each rule takes its turn among the items that are left. */
export function matchStored<Sent, Stored>(
  sent: readonly Sent[],
  stored: readonly Stored[],
  rules: readonly ((item: Sent, stored: Stored) => boolean)[],
): readonly (Stored | undefined)[] {
  const left = [...stored];
  const result: (Stored | undefined)[] = sent.map(() => undefined);
  for (const rule of rules) {
    for (const [index, item] of sent.entries()) {
      if (result[index] !== undefined) continue;
      const at = left.findIndex((each) => rule(item, each));
      if (at >= 0) result[index] = left.splice(at, 1)[0];
    }
  }
  return result;
}

export function secretRefsOf(fields: Fields, spec: unknown): readonly KeyRef[] {
  return [...secretRefs(fields, spec)];
}

function* secretRefs(fields: Fields, spec: unknown): Generator<KeyRef> {
  for (const { field: each } of leaves(fields)) {
    const stored = storedIn(spec, each);
    if (stored !== undefined) for (const { ref } of each.as?.secretsIn?.(stored) ?? []) if (ref !== undefined) yield ref;
    for (const { ref } of each.uses?.(spec) ?? []) if (ref !== undefined) yield ref;
    for (const item of listed(each, stored)) yield* secretRefs(each.as?.items ?? {}, item);
  }
}

/** Returns whether a request may hold a secret that is stored already. */
export function bringsSecrets(fields: Fields, body: object): boolean {
  return leaves(fields).some(({ name, field: each }) => {
    const sent = sentAt(body, name);
    if (sent === undefined || sent === null) return false;
    return each.as?.secretsIn !== undefined || listed(each, sent).some((item) => bringsSecrets(each.as?.items ?? {}, item as object));
  });
}

/** Yields the uses in list items first: where one secret is sent to two places, the first place's fields are named. */
function* secretUses(fields: Fields, spec: unknown, encoding: Encoding): Generator<SecretUse> {
  const all = leaves(fields).map(({ name, field: each }) => ({
    each,
    loc: [...encoding.loc, ...name.split('.')],
    stored: storedIn(spec, each),
  }));
  for (const { each, loc, stored } of all)
    for (const [index, item] of listed(each, stored).entries())
      yield* secretUses(each.as?.items ?? {}, item, { ...encoding, loc: [...loc, index] });
  for (const { each, loc, stored } of all) {
    if (stored !== undefined && each.sentTo !== undefined) {
      const origin = each.sentTo(spec);
      for (const { id, below = [] } of each.as?.secretsIn?.(stored, encoding) ?? []) yield { id, loc: [...loc, ...below], origin };
    }
    for (const { id, origin } of each.uses?.(spec) ?? []) yield { id, loc, origin, unsendable: true };
  }
}

/** Returns the items of a list that have fields of their own. */
function listed({ as }: Field, value: unknown): readonly unknown[] {
  return as?.items !== undefined && Array.isArray(value) ? value : [];
}

/** Returns whether a value is an empty list or map. */
export function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function storedIn(spec: unknown, { names }: Pick<Field, 'names'>): unknown {
  if (names === undefined) return undefined;
  let value = spec;
  for (const name of names) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

/** Returns the sent value of a field; it is null for all fields of a group that is null. */
function sentAt(body: unknown, name: string): unknown {
  return name.split('.').reduce<unknown>((value, key) => (isObject(value) ? value[key] : value), body);
}

/** Removes an object that loses its last field, unless it was stored empty: an empty one and none read the same. */
function withValueAt(target: unknown, previous: unknown, names: readonly string[], value: unknown): unknown {
  const [name = '', ...rest] = names;
  const object = isObject(target) ? target : {};
  const before = Object.hasOwn(object, name) ? object[name] : undefined;
  const stored = isObject(previous) ? previous[name] : undefined;
  const after = rest.length === 0 ? value : withValueAt(before, stored, rest, value);
  if (after !== undefined) return { ...object, [name]: after };
  const { [name]: _, ...others } = object;
  const stays = Object.keys(others).length > 0 || (isObject(previous) && Object.keys(previous).length === 0);
  return stays ? others : undefined;
}
