/**
 * Makes REST fields from the schema of a resource. Only the schema states type, bounds, default and text: an entry of the table states
 * differences, and where there are none, name and path.
 */
import { z } from 'zod';

import {
  answerShape,
  createShape,
  updateShape,
  type Conversion,
  type Decoding,
  type Encoding,
  type Field,
  type FieldRules,
  type Fields,
  type Shape,
  type UpdateShape,
} from './fields.ts';
import type { Draft } from './draft.ts';
import { answerSchema, bodySchema, schemaAt, unwrapped, type PathOf, type SchemaAt, type Unwrapped, type ValueAt } from './rest-schema.ts';
import { masked } from './secrets.ts';

type Schema = z.ZodType | undefined;
/** Says whether a body has to have the field. With `create`, a body that makes an object has to, and null clears the field later. */
type Requirement = boolean | 'create' | undefined;
type Filled = z.ZodOptional | z.ZodDefault | z.ZodPrefault;
type RequirementOf<S, R> = [R] extends [undefined] ? ([S] extends [never] ? true : S extends Filled ? false : true) : R;
type Nullish<T extends z.ZodType> = z.ZodOptional<z.ZodNullable<T>>;
type CreateOf<B extends z.ZodType, R> = R extends false ? Nullish<B> : B;
type UpdateOf<B extends z.ZodType, R> = R extends true ? z.ZodOptional<B> : Nullish<B>;
type AnswerOf<S, Shown, Empty> = Empty extends null
  ? z.ZodNullable<z.ZodType<Shown>>
  : [Empty, S] extends [undefined, z.ZodOptional]
    ? z.ZodOptional<z.ZodType<Shown>>
    : z.ZodType<Shown>;

type TypedField<C, U, A> = Omit<Field, 'create' | 'update' | 'answer'> & {
  readonly create: C;
  readonly update: U;
  readonly answer: A;
};

type Text = string | { readonly body: string; readonly answer: string };

/**
 * @param spec the schema of a resource, or of the items of one of its lists
 * @template O the object that is answered, `D` its context
 * @template E the context of a request
 */
export function fieldsOf<
  S extends z.ZodType,
  O = { readonly spec: z.output<S> },
  D extends Decoding = Decoding,
  E extends Encoding = Encoding,
>(spec: S) {
  type Spec = z.output<S>;

  interface Written<Sent> {
    /** @returns the spec with the sent value, which is undefined where nothing was sent and null where the field is to be cleared */
    write?(sent: Sent, spec: Draft<Spec> | undefined, encoding: E, body: object): Draft<Spec> | undefined;
  }

  interface Differences<P extends string, Sent, Shown, R, Empty, B, A> extends FieldRules<Draft<Spec>>, Written<Sent | null | undefined> {
    readonly as?: Conversion<ValueAt<S, P>, Sent, Shown, E, Spec>;
    readonly empty?: Empty;
    readonly required?: R;
    /** Writes the default where nothing is stored or sent, though the API server fills it in: that value would have no owner. */
    readonly ownsDefault?: true;
    /** Names the schema of the value in the OpenAPI document. */
    readonly id?: string;
    /** Replaces the resource's text where that names the resource's fields, or says less than REST has to. */
    readonly text?: Text;
    /** Makes the schema of a request's value. @param schema the schema that follows from the resource and `as` */
    readonly body?: (schema: Unwrapped<SchemaAt<S, P>>) => B;
    readonly answer?: A;
    /** Returns the answered value, where it isn't the stored one. */
    read?(object: O, reading: D): (A extends z.ZodType<infer T> ? T : Shown) | undefined;
  }

  interface RestField<C, U, A> extends Written<z.output<C> | z.output<U>> {
    /** Path whose failures are reported under the field's name. */
    readonly path?: string;
    readonly also?: readonly string[];
    readonly create?: C;
    readonly update?: U;
    readonly answer?: A;
    read?(object: O, reading: D): z.output<A> | undefined;
  }

  function field<
    const P extends string,
    Sent = ValueAt<S, P>,
    Shown = Sent,
    const R extends Requirement = undefined,
    const Empty = undefined,
    B extends z.ZodType = z.ZodType<Sent>,
    A extends Schema = undefined,
  >(path: P & PathOf<S, P>, differences: Differences<P, Sent, Shown, R, Empty, B, A> = {}) {
    const { required, ownsDefault, id, text, body, answer, ...rules } = differences;
    const { as, empty, fixed } = rules as Field;
    const stored = schemaAt(spec, path as never) as z.ZodType;
    const isRequired = required ?? !isFilled(stored);
    const about = describeField(stored, text, as);

    const derived = as?.body(stored) ?? bodySchema(stored);
    const named = body?.(derived as never) ?? derived;
    const value: z.ZodType = id === undefined ? named : named.meta({ id });
    // z.unknown() takes null already.
    const nullish = value instanceof z.ZodUnknown ? value.optional() : value.nullish();
    const create = described(isRequired === false ? nullish : value, about.body);
    const stays = isRequired === true || fixed !== undefined;
    const update =
      isRequired === false && !stays ? create : described(stays ? value.optional() : nullish, fixed === undefined ? about.body : FIXED);

    const shown = as?.answer(stored) ?? answerSchema(stored);
    const isAbsent = empty === undefined && stored instanceof z.ZodOptional;
    const shownSchema = described(answer ?? (empty === null ? shown.nullable() : isAbsent ? shown.optional() : shown), about.answer);
    const owned = ownsDefault && { default: unwrapped(stored).standard };
    return { path, names: path.split('.'), ...owned, ...rules, create, update, answer: shownSchema } as unknown as TypedField<
      CreateOf<NoInfer<B>, RequirementOf<SchemaAt<S, P>, NoInfer<R>>>,
      UpdateOf<NoInfer<B>, RequirementOf<SchemaAt<S, P>, NoInfer<R>>>,
      [A] extends [z.ZodType] ? NoInfer<A> : AnswerOf<SchemaAt<S, P>, NoInfer<Shown>, NoInfer<Empty>>
    >;
  }

  /** Makes a field that only answers have. */
  function answered<A extends z.ZodType>(answer: A, read: (object: O, reading: D) => z.output<A> | undefined) {
    return { answer, read } as unknown as TypedField<undefined, undefined, A>;
  }

  /** Makes a field that isn't in the spec, or that no conversion can produce. */
  function restField<C extends Schema = undefined, U extends Schema = undefined, A extends Schema = undefined>(
    description: RestField<C, U, A>,
  ) {
    return description as unknown as TypedField<C, NoInfer<U>, A>;
  }

  /**
   * Groups fields into an object of their own.
   * @param options.name name of the schemas in the OpenAPI document: as it is for answers, with `Create` and `Update` for bodies
   * @param options.path path of the object in the spec that the group stands for, where there is one; otherwise `about` describes the group
   */
  function group<const F extends Fields, const P extends string = never, const R extends boolean | undefined = undefined>(
    fields: F,
    options: { readonly name: string; readonly path?: P & PathOf<S, P>; readonly about?: string; readonly required?: R },
  ) {
    const { name, path, about } = options;
    const stored = path === undefined ? undefined : (schemaAt(spec, path as never) as z.ZodType);
    const isRequired = options.required ?? (stored === undefined || !isFilled(stored));
    const description = about ?? (stored && unwrapped(stored).text);
    const meta = (id: string) => ({ id, ...(description !== undefined && { description }) });
    const create = z.object(createShape(fields)).meta(meta(`${name}Create`));
    const isSame = Object.values<Fields[string]>(fields).every((each) => (each.update ?? each.create) === each.create);
    const update = isSame ? create : z.object(updateShape(fields)).meta(meta(`${name}Update`));
    const answer = z.object(answerShape(fields)).meta(meta(name));
    const schemas = {
      create: isRequired ? create : create.nullish(),
      update: isRequired ? update.optional() : update.nullish(),
      answer: stored instanceof z.ZodOptional ? answer.optional() : answer,
    } as unknown;
    type Requires = RequirementOf<SchemaAt<S, P>, R>;
    return { fields, ...(path !== undefined && { path, names: path.split('.') }), ...(schemas as object) } as unknown as {
      readonly fields: F;
      readonly path?: string;
      readonly names?: readonly string[];
      readonly create: CreateOf<z.ZodObject<Shape<F, 'create'>>, Requires>;
      readonly update: UpdateOf<z.ZodObject<UpdateShape<F>>, Requires>;
      readonly answer: [P, SchemaAt<S, P>] extends [string, z.ZodOptional]
        ? z.ZodOptional<z.ZodObject<Shape<F, 'answer'>>>
        : z.ZodObject<Shape<F, 'answer'>>;
    };
  }

  return { field, answered, restField, group };
}

const FIXED = "It can't be changed: only the present value is accepted.";

const isFilled = (schema: z.ZodType): boolean =>
  schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault;

/** Returns the resource's text, or the field's own, with REST's additions: the unit, the default, how secrets are shown. */
function describeField(stored: z.ZodType, own: Text | undefined, as: Field['as']): { readonly body?: string; readonly answer?: string } {
  if (typeof own === 'object') return own;
  const { text: said, standard } = unwrapped(stored);
  const text = own ?? said;
  if (text === undefined) return {};
  const value = as === undefined || standard === undefined ? standard : as.read(standard, { secrets: masked });
  const isShown = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  const shown = isShown ? `Default: \`${value}\`.` : undefined;
  const joined = (...parts: readonly (string | undefined)[]): string => parts.filter((part) => part !== undefined).join(' ');
  return { body: joined(text, as?.unit, shown), answer: joined(text, as?.unit, as?.shown) };
}

/** Describes a schema that has no text of its own. A named schema stays the same wherever it is used. */
function described(schema: z.ZodType, description: string | undefined): z.ZodType {
  if (description === undefined || unwrapped(schema).text !== undefined) return schema;
  const meta = schema.meta();
  if (meta?.id === undefined) return schema.describe(description);
  z.globalRegistry.add(schema, { ...meta, description });
  return schema;
}
