import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import type { RouteDescription } from '../http/route.ts';
import { validateRequest } from '../validation/request.ts';
import { describedRoutes } from './described-routes.ts';
import { documentedPath, openApiDocument } from './document.ts';

const routes = describedRoutes();
const document = openApiDocument(routes) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly responses: Readonly<Record<string, Answer>> };
  readonly tags: readonly { readonly name: string }[];
};
interface Answer {
  readonly $ref?: string;
  readonly description: string;
  readonly content?: Readonly<Record<string, { readonly schema: object; readonly example?: unknown }>>;
}
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly description?: string }[];
  readonly responses: Readonly<Record<string, Answer>>;
}

const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(document, 'openapi');
/** Validates a value against a schema whose references lead into the document. */
const check = (schema: object, value: unknown): string | undefined => {
  const absolute = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi#/')) as object;
  return ajv.validate(absolute, value) ? undefined : ajv.errorsText();
};

describe('the OpenAPI document', () => {
  it('has every route for clients, and nothing else', () => {
    const documented = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method} ${path}`),
    );
    const forClients = routes.filter(({ undocumented }) => !undocumented);
    expect(documented.toSorted()).toEqual(
      forClients.map(({ method, path }) => `${method.toLowerCase()} ${documentedPath(path)}`).toSorted(),
    );
    expect(new Set(routes.map(({ operationId }) => operationId)).size).toBe(routes.length);
  });

  it.each(routes.map((route) => [route.operationId, route] as const))('%s: has examples that are what they are examples of', (_, route) => {
    for (const body of Object.values(route.bodyExamples ?? {})) {
      const sent = { body: Buffer.from(JSON.stringify(body)), query: {} };
      expect(validateRequest({ body: (route.body ?? route.form) as z.ZodType }, sent)).toMatchObject({ ok: true });
    }
    if (route.body !== undefined || route.form !== undefined) expect(Object.keys(route.bodyExamples ?? {})).not.toEqual([]);
    const operation = document.paths[documentedPath(route.path)]?.[route.method.toLowerCase()];
    for (const parameter of operation?.parameters ?? []) expect(parameter.description, parameter.name).toMatch(/./);
    for (const [status, answer] of Object.entries(operation?.responses ?? {})) {
      const { content = {} } =
        answer.$ref === undefined ? answer : (document.components.responses[answer.$ref.split('/').at(-1) ?? ''] as Answer);
      for (const [type, { schema, example }] of Object.entries(content)) {
        if (type !== 'application/json' || route.operationId === 'getOpenApi') continue;
        const where = `example of ${status}, in descriptions.ts or examples.ts of its group`;
        expect(example, where).toBeDefined();
        expect(check(schema, example) ?? 'sound', where).toBe('sound');
      }
    }
  });

  it('says what the group of each route is', () => {
    const tags = new Set(document.tags.map(({ name }) => name));
    expect(
      routes.map(({ tag }) => tag).filter((tag) => !tags.has(tag)),
      'add it to `tags` in document.ts',
    ).toEqual([]);
  });

  it('says which failures each route can answer', () => {
    const failures = (operationId: string) => {
      const operation = Object.values(document.paths)
        .flatMap((operations) => Object.values(operations))
        .find((each) => each.operationId === operationId);
      return Object.keys(operation?.responses ?? {}).map(Number);
    };
    expect(failures('updateAgent')).toEqual([200, 400, 401, 403, 404, 408, 409, 412, 413, 415, 422, 429, 431, 500, 503]);
    expect(failures('listAgents')).toEqual([200, 400, 401, 403, 408, 422, 429, 431, 500, 503]);
    expect(failures('submitFile')).toEqual([202, 400, 401, 403, 404, 408, 409, 413, 415, 422, 429, 431, 500, 503]);
    expect(failures('getHealth')).toEqual([200, 400, 408, 431]);
  });

  it('can be made with closed answers, to compare answers with it', () => {
    expect(Object.keys(openApiDocument(routes, { closed: true }))).toEqual(Object.keys(document));
  });

  const small = {
    method: 'GET',
    path: '/x/:id',
    operationId: 'getX',
    tag: 'AI agents',
    summary: 'X',
    permission: 'agents:read',
    answers: { 200: { description: 'X', schema: z.object({ id: z.string() }).meta({ id: 'X' }) } },
  } as const satisfies RouteDescription;

  it('refuses parameters without a description and two schemas of one name', () => {
    expect(() => openApiDocument([small])).toThrow('getX: the path has the parameters id, and described are none');
    const other = { ...small, path: '/y', answers: { 200: { description: 'Y', schema: z.object({ y: z.string() }).meta({ id: 'X' }) } } };
    expect(() => openApiDocument([{ ...small, params: { id: 'Its id.' } }, other])).toThrow('two schemas are called X');
  });
});
