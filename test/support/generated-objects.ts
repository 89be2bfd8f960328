/** Generates random valid values from the schemas of the kinds, so that what is tried on every field follows from `crds/` alone. */
import * as fc from 'fast-check';

import { brokenRules } from '../../cli/agent-files/check-object.ts';
import { millisecondsIn, millisecondsOf } from '../../crds/duration.ts';
import type { StructuralSchema } from '../../crds/generate.ts';
import { DURATION } from '../../crds/schema.ts';
import { isObject } from '../../platform/json.ts';
import { mulberry } from '../../platform/mulberry.ts';

/** Steps from a node to one below it: names of fields, `[]` for an item of a list and `{}` for a value of a map. */
export type Steps = readonly string[];

interface GeneratedValue {
  /** Share of the optional fields that are set. */
  readonly share: number;
  /** Nodes below this one that must be there. */
  readonly with: readonly Steps[];
}

type Fields = Record<string, unknown>;

/** How often a value that breaks a CEL rule is made anew. */
const ATTEMPTS = 500;
/** Lists and texts are no longer than this, unless their schema asks for more. */
const LENGTH = 3;
const TEXT_LENGTH = 24;
/** Texts for each pattern. */
const POOL = 200;
const LETTERS = Array.from('abcdefghij XYZ019-_.é中😀{}"\\\n');

export class ValueGenerator {
  readonly #seed: number;
  readonly #random: () => number;
  readonly #pools = new Map<string, readonly string[]>();

  constructor(seed: number) {
    this.#seed = seed;
    this.#random = mulberry(seed);
  }

  /**
   * Returns a value that the API server takes.
   * @throws Error where no attempt satisfies the CEL rules
   */
  value(schema: StructuralSchema, wanted: Partial<GeneratedValue> = {}): unknown {
    const { share = 0.3, with: present = [] } = wanted;
    const rules = schema['x-kubernetes-validations'] ?? [];
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      // Some rules are broken by too many fields, some by too few.
      const value = this.#attempt(schema, { share: attempt === 0 ? share : this.#random() * 0.6, with: present });
      if (rules.length === 0 || brokenRules({ 'x-kubernetes-validations': rules }, withDefaults(schema, value), '').length === 0)
        return value;
    }
    throw new Error(`no value in ${ATTEMPTS} satisfies ${JSON.stringify(rules.map(({ rule }) => rule))}, with ${JSON.stringify(present)}`);
  }

  integer(from: number, to: number): number {
    return from + Math.floor(this.#random() * (to - from + 1));
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.integer(0, choices.length - 1)] as T;
  }

  chance(share: number): boolean {
    return this.#random() < share;
  }

  #attempt(schema: StructuralSchema, wanted: GeneratedValue): unknown {
    if (schema['x-kubernetes-preserve-unknown-fields'] === true) return this.#freeValue(schema);
    switch (schema.type) {
      case 'boolean':
        return this.chance(0.5);
      case 'integer':
        return this.integer(schema.minimum ?? 0, Math.min(schema.maximum ?? 1000, (schema.minimum ?? 0) + 1000));
      case 'number':
        return this.integer((schema.minimum ?? 0) * 4, (schema.maximum ?? 100) * 4) / 4;
      case 'array':
        return this.#array(schema, wanted);
      case 'object':
        return schema.additionalProperties === undefined ? this.#object(schema, wanted) : this.#map(schema.additionalProperties, wanted);
      default:
        return this.#text(schema);
    }
  }

  #freeValue({ type }: StructuralSchema): unknown {
    const object = { type: 'object', [this.pick(['a', 'b'])]: this.pick<unknown>(['text', 1, true, ['x'], { y: 0.5 }]) };
    return type === 'object' ? object : this.pick<unknown>([object, 'text', 3, false, [1, 'x']]);
  }

  #text(schema: StructuralSchema): string {
    if (schema.enum !== undefined) return this.pick(schema.enum);
    if (schema.format === 'date-time') return `2026-0${this.integer(1, 9)}-0${this.integer(1, 9)}T00:00:00Z`;
    const bounds = boundsOf(schema);
    if (bounds !== undefined && schema.pattern === DURATION.source)
      return durationText(this.integer(millisecondsOf(bounds.min), millisecondsOf(bounds.max)));
    if (bounds !== undefined) return String(this.integer(Number(bounds.min) * 4, Number(bounds.max) * 4) / 4);
    if (schema.pattern !== undefined) return this.pick(this.#pool(schema));
    const length = this.integer(schema.minLength ?? 0, Math.min(schema.maxLength ?? TEXT_LENGTH, (schema.minLength ?? 0) + TEXT_LENGTH));
    return Array.from({ length }, () => this.pick(LETTERS)).join('');
  }

  #pool(schema: StructuralSchema): readonly string[] {
    const { pattern = '', minLength = 0, maxLength = Infinity } = schema;
    const key = JSON.stringify([pattern, minLength, maxLength]);
    const known = this.#pools.get(key);
    if (known !== undefined) return known;
    const made = fc
      .sample(fc.stringMatching(new RegExp(pattern)), { seed: this.#seed, numRuns: POOL })
      .filter((text) => text.isWellFormed() && Array.from(text).length >= minLength && Array.from(text).length <= maxLength);
    if (made.length === 0) throw new Error(`no text of ${minLength} to ${maxLength} characters matches ${pattern}`);
    this.#pools.set(key, made);
    return made;
  }

  #array(schema: StructuralSchema, { share, with: present }: GeneratedValue): readonly unknown[] {
    const { items = {}, minItems = 0, maxItems = Infinity } = schema;
    const least = Math.max(minItems, present.length > 0 ? 1 : 0);
    return this.items(schema, this.integer(least, Math.max(least, Math.min(maxItems, LENGTH))), (index) =>
      this.value(items, { share, with: index === 0 ? below(present, '[]') : [] }),
    );
  }

  /** Returns `count` items, each of them different where the list wants that. */
  items(schema: StructuralSchema, count: number, make: (index: number) => unknown): readonly unknown[] {
    const identity = identityOf(schema);
    const items = new Map<string, unknown>();
    for (let attempt = 0; items.size < count && attempt < count + ATTEMPTS; attempt += 1) {
      const item = make(items.size);
      const key = identity?.(item) ?? String(items.size);
      if (!items.has(key)) items.set(key, item);
    }
    return [...items.values()];
  }

  #map(items: StructuralSchema, { share, with: present }: GeneratedValue): Fields {
    const count = Math.max(this.integer(0, 2), present.length > 0 ? 1 : 0);
    return Object.fromEntries(
      Array.from({ length: count }, (_, index) => [
        `key${index}`,
        this.value(items, { share, with: index === 0 ? below(present, '{}') : [] }),
      ]),
    );
  }

  #object(schema: StructuralSchema, { share, with: present }: GeneratedValue): Fields {
    const { properties = {}, required = [] } = schema;
    const forced = new Set([...required, ...present.flatMap(([name]) => (name === undefined ? [] : [name]))]);
    const names = new Set(Object.keys(properties).filter((name) => forced.has(name) || this.chance(share)));
    const given = this.#chooseMembers(schema, names, forced);
    return Object.fromEntries(
      Object.entries(properties).flatMap(([name, field]) =>
        names.has(name) ? [[name, given[name] ?? this.value(field, { share, with: below(present, name) })]] : [],
      ),
    );
  }

  /** Lets the members of a union be those of its type: by chance that would take too many attempts. */
  #chooseMembers(schema: StructuralSchema, names: Set<string>, forced: ReadonlySet<string>): Fields {
    const given: Fields = {};
    for (const { discriminator, members } of unionsOf(schema)) {
      const wanted = members.find(({ field }) => forced.has(field))?.type;
      const type = wanted ?? this.pick(schema.properties?.[discriminator]?.enum ?? []);
      names.add(discriminator);
      given[discriminator] = type;
      for (const member of members) {
        if (member.type !== type) names.delete(member.field);
        else if (!member.optional) names.add(member.field);
      }
    }
    for (const fields of choicesOf(schema)) {
      const chosen = fields.find((field) => forced.has(field)) ?? this.pick(fields);
      for (const field of fields) if (field !== chosen) names.delete(field);
      names.add(chosen);
    }
    return given;
  }
}

/** Returns the value as the API server stores it. */
export function withDefaults(schema: StructuralSchema, value: unknown): unknown {
  const { properties, items, additionalProperties } = schema;
  if (Array.isArray(value)) return items === undefined ? value : value.map((item) => withDefaults(items, item));
  if (!isObject(value)) return value;
  if (additionalProperties !== undefined)
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, withDefaults(additionalProperties, field)]));
  const absent = Object.entries(properties ?? {}).filter(([name, field]) => value[name] === undefined && field.default !== undefined);
  const complete = { ...value, ...Object.fromEntries(absent.map(([name, field]) => [name, field.default])) };
  return Object.fromEntries(Object.entries(complete).map(([name, field]) => [name, withDefaults(properties?.[name] ?? {}, field)]));
}

const below = (present: readonly Steps[], name: string): readonly Steps[] =>
  present.flatMap(([first, ...rest]) => (first === name && rest.length > 0 ? [rest] : []));

/** Reads the range of a duration or a decimal from the message of its CEL rule. */
export function boundsOf(schema: StructuralSchema): { readonly min: string; readonly max: string } | undefined {
  for (const { message } of schema['x-kubernetes-validations'] ?? []) {
    const [, min, max] = /^must be between (\S+) and (\S+)$/.exec(message) ?? [];
    if (min !== undefined && max !== undefined) return { min, max };
  }
  return undefined;
}

/** Writes a duration in the form of GEP-2257: of each unit at most five digits. */
export function durationText(milliseconds: number): string {
  let left = milliseconds;
  const parts = (['h', 'm', 's', 'ms'] as const).map((unit) => {
    const count = Math.floor(left / millisecondsIn[unit]);
    left -= count * millisecondsIn[unit];
    return count === 0 ? '' : `${count}${unit}`;
  });
  return parts.join('') || '0s';
}

/** Returns what makes an item the same as another one; undefined where a list may repeat itself. */
function identityOf(schema: StructuralSchema): ((item: unknown) => string) | undefined {
  const keys = schema['x-kubernetes-list-map-keys'];
  if (keys !== undefined) return (item) => JSON.stringify(keys.map((key) => (item as Fields)[key]));
  const distinct =
    schema['x-kubernetes-list-type'] === 'set' || schema['x-kubernetes-validations']?.some(({ rule }) => rule.includes('exists_one'));
  return distinct === true ? (item) => JSON.stringify(item) : undefined;
}

export interface Union {
  readonly discriminator: string;
  readonly members: readonly { readonly type: string; readonly field: string; readonly optional: boolean; readonly message: string }[];
}

/** Reads the discriminated unions of a node from the rules that `unionOf` makes. */
export function unionsOf(schema: StructuralSchema): readonly Union[] {
  const unions = new Map<string, Union['members'][number][]>();
  for (const { rule, message } of schema['x-kubernetes-validations'] ?? []) {
    const strict = /^has\(self\.(\w+)\) == \(self\.(\w+) == '(\w+)'\)$/.exec(rule);
    const [, field, discriminator, type] = strict ?? /^!has\(self\.(\w+)\) \|\| self\.(\w+) == '(\w+)'$/.exec(rule) ?? [];
    if (field === undefined || discriminator === undefined || type === undefined) continue;
    const members = unions.get(discriminator) ?? [];
    members.push({ type, field, optional: strict === null, message });
    unions.set(discriminator, members);
  }
  return [...unions].map(([discriminator, members]) => ({ discriminator, members }));
}

/** Reads the groups of fields of which exactly one is set. */
export function choicesOf(schema: StructuralSchema): readonly (readonly string[])[] {
  return (schema['x-kubernetes-validations'] ?? []).flatMap(({ rule }) => {
    const one = /^\[(.*)\]\.filter\(x, x\)\.size\(\) == 1$/.exec(rule)?.[1] ?? /^(has\(self\.\w+\) != has\(self\.\w+\))$/.exec(rule)?.[1];
    return one === undefined ? [] : [Array.from(one.matchAll(/has\(self\.(\w+)\)/g), ([, field = '']) => field)];
  });
}
