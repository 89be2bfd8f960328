import type { z } from 'zod';

import { issues, type ValidationIssue } from './issue.ts';
import { parseJson } from './json.ts';
import { validate } from './validate.ts';

/** What a route reads from a request. */
export interface RequestSchemas {
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
}

export interface RawRequest {
  /** The last value of each query parameter, or all of them where it is a list. */
  readonly query: Readonly<Record<string, string | readonly string[]>>;
  /** As sent; empty when there was none. */
  readonly body: Uint8Array | undefined;
}

type Part<S extends RequestSchemas, K extends keyof RequestSchemas> = S[K] extends z.ZodType ? z.output<S[K]> : undefined;

/** The parts of a request, read and sound. */
export interface ReadRequest<S extends RequestSchemas> {
  readonly query: Part<S, 'query'>;
  readonly body: Part<S, 'body'>;
}

export type ValidatedRequest<S extends RequestSchemas> =
  | { readonly ok: true; readonly value: ReadRequest<S> }
  | { readonly ok: false; readonly issues: readonly ValidationIssue[] };

/**
 * Reads every part and reports all failures in FastAPI's order: query, then body. As there, a body that is no JSON is
 * reported alone, and one that is absent is a missing field.
 */
export function validateRequest<S extends RequestSchemas>(schemas: S, raw: RawRequest): ValidatedRequest<S> {
  const found: ValidationIssue[] = [];
  let body: unknown;
  if (schemas.body !== undefined && raw.body !== undefined && raw.body.length > 0) {
    const parsed = parseJson(raw.body);
    if (!parsed.ok) return { ok: false, issues: [issues.jsonInvalid(parsed.offset)] };
    body = parsed.value;
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
  const value = { query: part(schemas.query, raw.query, 'query'), body: part(schemas.body, body, 'body') };
  return found.length === 0 ? { ok: true, value: value as unknown as ReadRequest<S> } : { ok: false, issues: found };
}
