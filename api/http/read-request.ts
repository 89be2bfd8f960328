import type { FastifyRequest } from 'fastify';
import { z } from 'zod';

import { isList, validateRequest, type ReadRequest, type RequestSchemas } from '../validation/request.ts';
import { ValidationError } from './api-error.ts';
import { requestState } from './request-state.ts';
import { warningsAnswer } from './warnings.ts';

const noQuery = z.object({});

/** Returns whether unknown names in the query are refused: a write must not do what `?dry_run=true` should have shown. */
export function refusesUnknownQuery({
  query,
  method,
  permission,
}: {
  readonly query?: z.ZodObject;
  readonly method: string;
  readonly permission: unknown;
}): boolean {
  return query !== undefined || (method !== 'GET' && permission !== 'public');
}

/**
 * Reads the parts of a request that the route takes; unknown fields become warnings of the answer.
 * @throws ValidationError with every failure of every part
 */
export function readRequest<S extends RequestSchemas>(request: FastifyRequest, schemas: S): ReadRequest<S> {
  const query = request.query as Readonly<Record<string, string | readonly string[]>>;
  const state = requestState(request);
  const { description } = request.routeOptions.config;
  const result = state.timedSync('validate', () =>
    validateRequest(
      description !== undefined && refusesUnknownQuery(description) ? { query: noQuery, ...schemas } : schemas,
      {
        query: Object.fromEntries(
          Object.entries(query).map(([name, value]) => [
            name,
            isList(schemas.query?.shape[name]) && typeof value === 'string' ? [value] : value,
          ]),
        ),
        body: request.body as Uint8Array | undefined,
      },
      { answers: answersOf(request), made: request.method === 'POST', lenient: true },
    ),
  );
  if (!result.ok) throw new ValidationError(result.issues);
  state.warnings.push(...result.warnings);
  state.answered.push(...result.answered);
  state.isDryRun = (result.value.query as { readonly dry_run?: boolean } | undefined)?.dry_run === true;
  return result.value;
}

/** Returns the schemas of the route's answers; the answer of a write has `warnings` as well. */
function answersOf({ routeOptions }: FastifyRequest): readonly z.ZodType[] {
  const answers = Object.values(routeOptions.config.description?.answers ?? {});
  return [warningsAnswer, ...answers.map(({ schema }) => schema).filter((schema) => schema !== undefined)];
}
