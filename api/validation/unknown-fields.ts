/** Finds the fields of a request that no schema reads. Pure. */
import { similarName } from '../../platform/similar-name.ts';
import { z } from 'zod';

import type { Loc } from './issue.ts';

export interface UnknownField {
  readonly path: Loc;
  /** Set where the object takes no other fields (`z.strictObject`): ignoring one would widen the request's meaning. */
  readonly forbidden: boolean;
  /** A field of the same object with nearly the same name. */
  readonly similar: string | undefined;
}

export interface AnsweredField extends Pick<UnknownField, 'path'> {
  readonly value: unknown;
  /** The field of the same object that sets it, where there is one. */
  readonly sentAs: string | undefined;
  /** Set where the value changes by itself: see {@link volatile}. */
  readonly isVolatile: boolean;
}

const answerNotes = z.registry<{ readonly sentAs?: string; readonly isVolatile?: true }>();

/** Notes that a field of an answer has another name in requests. */
export function sentAs<T extends z.ZodType>(answer: T, name: string): T {
  answerNotes.add(answer, { sentAs: name });
  return answer;
}

/** Notes that a field of an answer changes by itself: the next answer may have another value, whatever was written. */
export function volatile<T extends z.ZodType>(answer: T): T {
  answerNotes.add(answer, { isVolatile: true });
  return answer;
}

type Schema = z.core.$ZodType;

type Unread = { readonly unknown: UnknownField } | { readonly answered: AnsweredField };

/**
 * Returns the fields that neither the schema nor an answer has at the same place.
 * @param answers schemas of the route's answers
 * @returns at most `most` fields, in the order of the input
 */
export function unknownFields(schema: Schema, input: unknown, answers: readonly Schema[], most: number): readonly UnknownField[] {
  return take(walk(schema, input, answers, []), (field) => ('unknown' in field ? field.unknown : undefined), most);
}

/** Returns the fields that an answer has at the same place, and the schema doesn't: at most `most`, in the order of the input. */
export function answeredFields(schema: Schema, input: unknown, answers: readonly Schema[], most: number): readonly AnsweredField[] {
  return take(walk(schema, input, answers, []), (field) => ('answered' in field ? field.answered : undefined), most);
}

function take<T>(fields: Iterable<Unread>, wanted: (field: Unread) => T | undefined, most: number): readonly T[] {
  const found: T[] = [];
  for (const field of fields) {
    if (found.length === most) break;
    const one = wanted(field);
    if (one !== undefined) found.push(one);
  }
  return found;
}

function* walk(schema: Schema, input: unknown, answers: readonly Schema[], path: Loc): Generator<Unread> {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (typeof input !== 'object' || input === null) return;
  switch (def.type) {
    case 'optional':
    case 'nullable':
    case 'default':
      yield* walk(def.innerType, input, answers, path);
      return;
    case 'array':
      if (!Array.isArray(input)) return;
      for (const [index, item] of input.entries()) yield* walk(def.element, item, inside(answers, index), [...path, index]);
      return;
    case 'record':
      for (const name of Object.keys(input)) yield* walk(def.valueType, of(input, name), inside(answers, name), [...path, name]);
      return;
    case 'union':
      yield* inVariant(def, input, answers, path);
      return;
    case 'object':
      // The loop goes by name: the pairs of a body full of fields would take long to make.
      for (const name of Object.keys(input)) {
        const known = inside(answers, name);
        const field = Object.hasOwn(def.shape, name) ? def.shape[name] : undefined;
        if (field !== undefined) yield* walk(field, of(input, name), known, [...path, name]);
        else if (known.length > 0) yield { answered: { path: [...path, name], value: of(input, name), ...notesOf(known) } };
        else {
          const forbidden = (def.catchall as z.core.$ZodTypes | undefined)?._zod.def.type === 'never';
          yield { unknown: { path: [...path, name], forbidden, similar: similarName(name, Object.keys(def.shape)) } };
        }
      }
      return;
    default:
  }
}

const of = (object: object, name: string): unknown => (object as Readonly<Record<string, unknown>>)[name];

/** Reads the object as the variant that its tag names, or else as the one with the fewest unknown fields. */
function* inVariant(def: z.core.$ZodUnionDef, input: object, answers: readonly Schema[], path: Loc): Generator<Unread> {
  const objects = def.options.filter((option) => option instanceof z.ZodObject);
  const tag = 'discriminator' in def ? String(def.discriminator) : undefined;
  const sent = tag === undefined ? undefined : of(input, tag);
  const tagged = tag === undefined ? [] : objects.filter(({ shape }) => (shape[tag] as z.ZodType).safeParse(sent).success);
  const lists = (tagged.length > 0 ? tagged : objects).map((option) => Array.from(walk(option, input, answers, path)));
  const unknown = (fields: readonly Unread[]): number => fields.filter((field) => 'unknown' in field).length;
  const [best = []] = lists.toSorted((a, b) => unknown(a) - unknown(b));
  // A field of another variant of the request belongs to that variant, not to the answer.
  const ofAnother = ({ path: at }: AnsweredField): boolean =>
    at.length === path.length + 1 && objects.some(({ shape }) => Object.hasOwn(shape, String(at.at(-1))));
  yield* best.filter((field) => 'unknown' in field || !ofAnother(field.answered));
}

function notesOf(answers: readonly Schema[]): Pick<AnsweredField, 'sentAs' | 'isVolatile'> {
  const notes = answers.map((answer) => answerNotes.get(answer as z.ZodType) ?? {});
  return {
    sentAs: notes.find((note) => note.sentAs !== undefined)?.sentAs,
    isVolatile: notes.some((note) => note.isVolatile === true),
  };
}

function inside(schemas: readonly Schema[], step: string | number): readonly Schema[] {
  return schemas.flatMap((schema) => {
    const { def } = (schema as z.core.$ZodTypes)._zod;
    switch (def.type) {
      case 'optional':
      case 'nullable':
      case 'default':
        return inside([def.innerType], step);
      case 'union':
        return inside(def.options, step);
      case 'array':
        return [def.element];
      case 'record':
        return [def.valueType];
      case 'object':
        return Object.hasOwn(def.shape, step) ? [def.shape[step] as Schema] : [];
      case 'unknown':
        return [schema];
      default:
        return [];
    }
  });
}
