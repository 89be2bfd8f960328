import { z } from 'zod';

import { issues, type ValidationIssue } from './issue.ts';
import { parseJson } from './json.ts';
import { normalize } from './normalize.ts';
import { answeredFields, unknownFields, type AnsweredField } from './unknown-fields.ts';
import { validate } from './validate.ts';
import { unknownFieldWarnings } from './warning.ts';

/** Most unknown fields that are named; a body can have hundreds of thousands. */
const MOST_NAMED = 16;

export interface RequestSchemas {
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
}

export interface RawRequest {
  /** Values by name; the value is a list where the parameter is one or was given more than once. */
  readonly query: Readonly<Record<string, string | readonly string[]>>;
  /** The body as it was sent; empty when there was none. */
  readonly body: Uint8Array | undefined;
}

type Part<S extends RequestSchemas, K extends keyof RequestSchemas> = S[K] extends z.ZodType ? z.output<S[K]> : undefined;

export interface ReadRequest<S extends RequestSchemas> {
  readonly query: Part<S, 'query'>;
  readonly body: Part<S, 'body'>;
}

export type ValidatedRequest<S extends RequestSchemas> =
  | {
      readonly ok: true;
      readonly value: ReadRequest<S>;
      readonly warnings: readonly string[];
      /** Fields that nothing reads: they have the stored value, or mean something that does not happen. */
      readonly answered: readonly AnsweredField[];
    }
  | { readonly ok: false; readonly issues: readonly ValidationIssue[] };

/**
 * Reads every part and reports all failures in FastAPI's order: query, then body. As there, a body that is no JSON is reported alone, and
 * one that is absent is a missing field. An unknown field is a failure where it would narrow the request: in the query, and in a body that
 * is a `z.strictObject`; elsewhere it is a warning.
 * @param options.answers schemas of the route's answers: their fields may be sent back without effect, except where something is `made`, of
 * which nothing is stored
 * @param options.lenient reads more spellings than pydantic does: see {@link normalize}
 */
export function validateRequest<S extends RequestSchemas>(
  schemas: S,
  raw: RawRequest,
  {
    answers = [],
    made = false,
    lenient = false,
  }: { readonly answers?: readonly z.ZodType[]; readonly made?: boolean; readonly lenient?: boolean } = {},
): ValidatedRequest<S> {
  const found: ValidationIssue[] = [];
  let body: unknown;
  if (schemas.body !== undefined && raw.body !== undefined && raw.body.length > 0) {
    const parsed = parseJson(raw.body);
    if (!parsed.ok) return { ok: false, issues: [issues.jsonInvalid(parsed.offset)] };
    body = parsed.value;
    if (lenient) normalize(schemas.body, body);
  }
  const part = (schema: z.ZodType | undefined, input: unknown, name: string): unknown => {
    if (schema === undefined) return undefined;
    if (input === undefined && schema._zod.optin === undefined) {
      found.push(issues.missing([name]));
      return undefined;
    }
    const result = validate(schema, input, [name]);
    if (result.ok) return result.value;
    for (const issue of result.issues) found.push(issue);
    return undefined;
  };
  const repeated = Object.keys(raw.query).filter((name) => Array.isArray(raw.query[name]) && !isList(schemas.query?.shape[name]));
  const once = Object.fromEntries(Object.entries(raw.query).filter(([name]) => !repeated.includes(name)));
  // Two values mean two things: `?dry_run=true&dry_run=false` must not write.
  for (const name of repeated) found.push(issues.value(['query', name], 'is given more than once: give it once'));
  const query = part(schemas.query, once, 'query');
  const unknownQuery = schemas.query === undefined ? [] : unknownFields(schemas.query, raw.query, [], MOST_NAMED);
  for (const { path } of unknownQuery) found.push(issues.extra(['query', ...path]));
  const value = { query, body: part(schemas.body, body, 'body') };
  const unknown = schemas.body === undefined ? [] : unknownFields(schemas.body, body, answers, MOST_NAMED + 1);
  for (const { path, forbidden } of unknown) if (forbidden) found.push(issues.extra(['body', ...path]));
  const answered = schemas.body === undefined ? [] : answeredFields(schemas.body, body, answers, MOST_NAMED);
  if (made) found.push(...answered.map(answersOnly));
  if (found.length > 0) return { ok: false, issues: found };
  return { ok: true, value: value as unknown as ReadRequest<S>, warnings: unknownFieldWarnings(unknown, MOST_NAMED), answered };
}

export function isList(field: z.core.$ZodType | undefined): boolean {
  return field instanceof z.ZodOptional && field.unwrap() instanceof z.ZodArray;
}

/** Reports a field that has no effect in a request. */
export const answersOnly = ({ path, sentAs }: Pick<AnsweredField, 'path' | 'sentAs'>): ValidationIssue =>
  issues.value(['body', ...path], `only answers have this field: ${sentAs === undefined ? 'leave it out' : `send ${sentAs}`}`);
