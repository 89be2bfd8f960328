/** Converts values of specs to REST's, and back. */
import { z } from 'zod';

import { millisecondsOf } from '../../crds/duration.ts';
import { decimalBounds, durationBounds, headerList, name as nonEmpty } from '../../crds/schema.ts';
import type { JsonObject } from '../../platform/json.ts';
import { MASK } from '../http/caller.ts';
import { trimmed } from '../validation/normalize.ts';
import { withRule, type Rule } from '../validation/validate.ts';
import { durationOfMilliseconds, durationOfSeconds, secondsOf } from './duration.ts';
import {
  answerShape,
  createShape,
  fieldNamesOf,
  isEmpty,
  readFields,
  writeEach,
  type Conversion,
  type Encoding,
  type Fields,
  type Shape,
  type Written,
} from './fields.ts';
import { headerSecrets, headersFromRest, headersToRest, unchangedNothing, type Header } from './headers.ts';
import type { Draft } from './draft.ts';
import { answerSchema, bodySchema, distinct, itemOf, listLike, mapLike, propertyOf, unwrapped, without } from './rest-schema.ts';
import { refId, type KeyRef } from './secrets.ts';

const SECRET_LENGTH = 4096;
const MASKED = '`"********"` unless the key names the permission `secrets:read`';

/** Makes the schema of an id. That there is nothing of this name says more than that nothing can have it. */
const idOf = (stored: z.ZodType<{ readonly name: string }>): z.ZodType<string> =>
  without(bodySchema(propertyOf(stored, 'name')), 'string_format');

/** Converts a reference to another resource to that resource's name. */
export const reference: Conversion<{ readonly name: string }, string> = {
  body: idOf,
  answer: () => z.string(),
  read: ({ name }) => name,
  write: (name) => ({ name }),
  below: { '.name': '' },
};

/** Converts references to other resources to their names. */
export const references: Conversion<readonly { readonly name: string }[], readonly string[]> = {
  body: (stored) =>
    withRule(
      listLike(stored, idOf(itemOf(stored))),
      distinct('ids', (name) => name),
    ),
  answer: () => z.array(z.string()),
  read: (stored) => stored.map(({ name }) => name),
  write: (names) => names.map((name) => ({ name })),
  below: { '.*': '.*', '.*.name': '.*' },
};

/** Trims a name; spaces alone unset it. A name that is sent back as it was shown stays as it was written. */
export const trimmedLabel: Conversion<string, string> = {
  body: (stored) => trimmed(bodySchema(stored)),
  answer: answerSchema,
  read: (stored) => stored.trim(),
  write: (sent, { stored }) => (sent === stored?.trim() ? stored : sent),
};

/** Trims a name that the object's own name stands in for: sending that back leaves the field absent, and doesn't unset it. */
export const trimmedName: Conversion<string, string> = {
  ...trimmedLabel,
  body: (stored) => trimmed(bodySchema(stored).check(z.regex(/\S/))),
  write: (sent, { stored }, { objectName }) => (sent === (stored?.trim() || objectName) ? stored : sent),
};

function boundsOf(stored: z.ZodType): { readonly min: number; readonly max: number } {
  const bounds = durationBounds.get(unwrapped(stored).inner);
  if (bounds === undefined) throw new TypeError('the field of the resource is no duration');
  return { min: millisecondsOf(bounds.min), max: millisecondsOf(bounds.max) };
}

/** Converts a duration to whole milliseconds. It stays as it was typed as long as it means the same here. */
export const milliseconds: Conversion<string, number> = {
  body(stored) {
    const { min, max } = boundsOf(stored);
    return z.int().min(min).max(max);
  },
  answer: () => z.int(),
  read: (duration) => Math.round(millisecondsOf(duration)),
  write: (sent, { stored }) =>
    stored !== undefined && Math.round(millisecondsOf(stored)) === sent ? stored : durationOfMilliseconds(sent),
  unit: 'In milliseconds.',
};

/** Converts a duration to seconds. It stays as it was typed as long as it means the same. */
export const seconds: Conversion<string, number> = {
  body(stored) {
    const { min, max } = boundsOf(stored);
    return z
      .number()
      .min(min / 1000)
      .max(max / 1000);
  },
  answer: () => z.number(),
  read: secondsOf,
  write: (sent, { stored }) => durationOfSeconds(sent, stored),
  unit: 'In seconds.',
};

const DAY_MS = 86_400_000;
const daysIn = (duration: string): number => Math.round(millisecondsOf(duration) / DAY_MS);

/** Converts a duration to whole days. It stays as it was typed as long as it means the same here. */
export const days: Conversion<string, number> = {
  body(stored) {
    const { min, max } = boundsOf(stored);
    return z
      .int()
      .min(min / DAY_MS)
      .max(max / DAY_MS);
  },
  answer: () => z.int(),
  read: daysIn,
  write: (sent, { stored }) => (stored !== undefined && daysIn(stored) === sent ? stored : `${sent * 24}h`),
  unit: 'In days.',
};

/** Converts a decimal number as text to a number. It stays as it was typed as long as it means the same. */
export const number: Conversion<string, number> = {
  body(stored) {
    const bounds = decimalBounds.get(unwrapped(stored).inner);
    if (bounds === undefined) throw new TypeError('the field of the resource is no decimal number');
    return z.number().min(bounds.min).max(bounds.max);
  },
  answer: () => z.number(),
  read: Number,
  write: (sent, { stored }) => (stored !== undefined && Number(stored) === sent ? stored : decimalOf(sent)),
};

/** Writes a number without an exponent, which a decimal of a resource can't have. */
function decimalOf(value: number): string {
  const text = String(value);
  return text.includes('e') ? value.toFixed(20).replace(/\.?0+$/, '') : text;
}

/** Keeps an empty list or map as it was written, because it means the same as an absent one. */
export function unlessEmpty<T extends object>(value: T, stored: unknown): T | undefined {
  if (Object.keys(value).length > 0) return value;
  return isEmpty(stored) ? (stored as T) : undefined;
}

/** Converts a list of texts; an empty one means the same as an absent one. */
export const listUnlessEmpty: Conversion<readonly string[], readonly string[]> = {
  body: (stored) => without(bodySchema(stored), 'min_length'),
  answer: answerSchema,
  read: (stored) => stored,
  write: (sent, { stored }) => unlessEmpty(sent, stored),
  below: { '.*': '.*' },
};

/** Converts a choice whose values have other names in REST. */
export function choice<const Words extends Readonly<Record<string, string>>>(
  words: Words,
): Conversion<Words[Extract<keyof Words, string>], Extract<keyof Words, string>> {
  type Word = Extract<keyof Words, string>;
  const all = Object.keys(words) as Word[];
  return {
    body: () => z.enum(all),
    answer: () => z.enum(all),
    read: (stored) => all.find((word) => words[word] === stored),
    write: (sent) => words[sent] as Written<Words[Word]>,
  };
}

/** Converts a mode that has two values to whether it is `on`. */
export function whether<const On extends string, const Off extends string>(on: On, off: Off): Conversion<On | Off, boolean> {
  return {
    body: () => z.boolean(),
    answer: () => z.boolean(),
    read: (mode) => mode === on,
    write: (sent) => (sent ? on : off) as Written<On | Off>,
  };
}

/** Converts a value that is kept in a Secret. */
export const secret: Conversion<KeyRef, string> = {
  body: () => nonEmpty(SECRET_LENGTH),
  answer: () => z.string(),
  read: (ref, { secrets }) => secrets.read(ref) ?? MASK,
  write: (value, { name, stored }, { secrets, loc, found }) => {
    if (value !== MASK) return secrets.write(name.replaceAll(/[._]/g, '-'), value, stored);
    if (stored === undefined) found.push(unchangedNothing([...loc, ...name.split('.')]));
    return stored;
  },
  secretsIn: (ref) => [{ id: refId(ref), ref }],
  shown: `${MASKED}.`,
};

/** A header name must be one that HTTP can carry, and no name may come twice in different cases. */
const headerMap = withRule(
  mapLike(headerList(), bodySchema(headerList().element.shape.value.unwrap())).meta({ id: 'HttpHeaders' }),
  (map, loc) =>
    distinct('header names', (name: string) => name.toLowerCase())(Object.keys(map), loc).map(({ type, msg }) => ({ type, loc, msg })),
);

/** Converts HTTP headers. @param purpose begins their keys in the Secret, by the spec or list item that has them */
export function headers<Within>(
  purpose: (within: Within) => string,
): Conversion<readonly Header[], Readonly<Record<string, string>>, Readonly<Record<string, string>>, Encoding, Within> {
  return {
    body: () => headerMap,
    answer: () => z.record(z.string(), z.string()),
    read: (stored, { secrets }) => headersToRest(stored, secrets),
    write: (sent, { name, stored, within }, { secrets, loc, found }) =>
      headersFromRest(sent, { previous: stored, secrets, purpose: purpose(within), loc: [...loc, ...name.split('.')], found }),
    secretsIn: (stored) => headerSecrets(stored),
    shown: `Values that look secret are ${MASKED}.`,
  };
}

type Body<F> = z.output<z.ZodObject<Shape<F, 'create'>>>;
type View<F> = z.output<z.ZodObject<Shape<F, 'answer'>>>;

interface Objects<F> {
  /** Name of an answer's schema in the OpenAPI document; a body's schema is called the same with `Create`. */
  readonly name: string;
  readonly about?: string;
  /** A rule that no single field can express. */
  readonly rule?: Rule<Body<F>>;
}

function objectSchemas<F extends Fields>(fields: F, { name, about, rule }: Objects<F>) {
  const meta = (id: string) => ({ id, ...(about !== undefined && { description: about }) });
  const body = z.object(createShape(fields)).meta(meta(`${name}Create`)) as z.ZodType as z.ZodType<Body<F>>;
  return {
    body: rule === undefined ? body : withRule(body, rule),
    answer: z.object(answerShape(fields)).meta(meta(name)) as z.ZodType as z.ZodType<View<F>>,
  };
}

const within = (encoding: Encoding, ...loc: Encoding['loc']): Encoding => ({ ...encoding, loc: [...encoding.loc, ...loc] });

const namesBelow = (fields: Fields, prefix: string): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(fieldNamesOf(fields)).map(([path, name]) => [`${prefix}.${path}`, `${prefix}.${name}`]));

/** Converts an object that is replaced as a whole: fields that a request doesn't name are unset. */
export function whole<T, const F extends Fields>(fields: F, options: Objects<F>): Conversion<T, Body<F>, View<F>> {
  const { body, answer } = objectSchemas(fields, options);
  return {
    body: () => body,
    answer: () => answer,
    read: (stored, reading) => readFields(fields, { spec: stored }, reading) as View<F>,
    write: (sent, { name, stored }, encoding) => writeEach(fields, sent, stored, within(encoding, ...name.split('.')), true) as Written<T>,
    below: namesBelow(fields, ''),
  };
}

/**
 * Converts a list whose items have fields of their own. It is replaced as a whole: fields that an item doesn't name are unset.
 * @param options.match finds for each item the stored one that it continues, or a beginning; items of the same name match where absent
 */
export function items<T, const F extends Fields>(
  fields: F,
  options: Objects<F> & { readonly match?: (sent: readonly Body<F>[], stored: readonly T[]) => readonly (T | Draft<T> | undefined)[] },
): Conversion<readonly T[], readonly Body<F>[], readonly View<F>[]> {
  const { body, answer } = objectSchemas(fields, options);
  const { match = ofSameName } = options;
  return {
    body: (stored) => listLike(stored, body, fieldNamesOf(fields)),
    answer: () => z.array(answer),
    read: (stored, reading) => stored.map((item) => readFields(fields, { spec: item }, reading) as View<F>),
    write(sent, { name, stored = [] }, encoding) {
      const before = match(sent, stored);
      return sent.map((item, index) =>
        writeEach(fields, item, before[index], within(encoding, ...name.split('.'), index), true),
      ) as Written<readonly T[]>;
    },
    below: { '.*': '.*', ...namesBelow(fields, '.*') },
    items: fields,
  };
}

/** Lets each item continue the stored one at its place. */
export const atSamePlace = <T>(_sent: readonly object[], stored: readonly T[]): readonly T[] => stored;

function ofSameName<T>(sent: readonly object[], stored: readonly T[]): readonly (T | undefined)[] {
  const nameOf = (item: unknown): unknown => (item as JsonObject)['name'];
  return sent.map((item) => stored.find((other) => nameOf(other) === nameOf(item)));
}

/**
 * Converts a map whose values have fields of their own. It is replaced as a whole: fields that a value doesn't name are unset.
 * @param options.listed whether the resource has a list of them instead, with their keys as names
 */
export function entries<T extends object, const F extends Fields>(
  fields: F,
  options: Objects<F> & { readonly listed?: boolean },
): Conversion<T, Readonly<Record<string, Body<F>>>, Readonly<Record<string, View<F>>>> {
  const { body, answer } = objectSchemas(fields, options);
  const byKey = (stored: unknown = {}): Readonly<Record<string, unknown>> =>
    Array.isArray(stored) ? Object.fromEntries(stored.map((item: { readonly name: string }) => [item.name, item])) : (stored as JsonObject);
  return {
    body: (stored) => mapLike(stored, body),
    answer: () => z.record(z.string(), answer),
    read: (stored, reading) =>
      Object.fromEntries(Object.entries(byKey(stored)).map(([key, item]) => [key, readFields(fields, { spec: item }, reading) as View<F>])),
    write(sent, { name, stored }, encoding) {
      const before = byKey(stored);
      const written = Object.entries(sent).map(([key, item]) => {
        const previous = before[key] ?? (options.listed === true ? { name: key } : undefined);
        return [key, writeEach(fields, item, previous, within(encoding, ...name.split('.'), key), true)] as const;
      });
      const all = options.listed === true ? written.map(([, item]) => item) : Object.fromEntries(written);
      return unlessEmpty(all, stored) as Written<T> | undefined;
    },
  };
}
