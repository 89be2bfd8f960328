import { describe, expect, it } from 'vitest';

import { describedRoutes } from './described-routes.ts';
import { openApiDocument } from './document.ts';
import { openChoices } from './open-choices.ts';

const open = (...values: string[]) => ({ type: 'string', 'x-extensible-enum': values });

describe('a choice of an answer', () => {
  it('is a text that names what it may be today', () => {
    expect(openChoices({ type: 'string', enum: ['a', 'b'], description: 'Which.' }, new Map())).toEqual({
      ...open('a', 'b'),
      description: 'Which. One of `a`, `b`; others may be added.',
    });
  });

  it('is opened wherever it stands, with what is said where it is referred to', () => {
    const definitions = new Map([['#/$defs/Kind', { type: 'string', enum: ['x'], description: 'A kind.' }]]);
    const schema = {
      type: 'object',
      // Names of properties look like keywords and are none.
      properties: { enum: { $ref: '#/$defs/Kind', description: 'Its kind.' }, items: { type: 'array', items: { $ref: '#/$defs/Kind' } } },
      additionalProperties: { anyOf: [{ type: 'string', enum: ['y'] }, { type: 'null' }] },
    };
    expect(openChoices(schema, definitions)).toEqual({
      type: 'object',
      properties: {
        enum: { ...open('x'), description: 'Its kind. One of `x`; others may be added.' },
        items: { type: 'array', items: { ...open('x'), description: 'A kind. One of `x`; others may be added.' } },
      },
      additionalProperties: { anyOf: [{ ...open('y'), description: 'One of `y`; others may be added.' }, { type: 'null' }] },
    });
  });
});

describe('the OpenAPI document', () => {
  const document = openApiDocument(describedRoutes());
  const closed = openApiDocument(describedRoutes(), { closed: true });

  it('has no closed choice in an answer', () => {
    const found = [...answeredSchemas(document)].filter(([, schema]) => Array.isArray(schema['enum']));
    expect(found.map(([path]) => path)).toEqual([]);
  });

  it('has the closed choices in requests, and in answers only for tests', () => {
    expect((document as unknown as Document).components.schemas['AmbientSound']).toMatchObject({ enum: expect.arrayContaining(['cafe']) });
    const choices = (each: object, keyword: string): number => JSON.stringify([...answeredSchemas(each)]).split(`"${keyword}":`).length - 1;
    expect(choices(document, 'x-extensible-enum')).toBeGreaterThan(50);
    expect(choices(closed, 'x-extensible-enum')).toBe(0);
    expect(choices(closed, 'enum')).toBeGreaterThan(50);
  });
});

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: object }>>>>;
  readonly components: Readonly<Record<'schemas' | 'responses', Readonly<Record<string, object>>>>;
}

/** Yields every object that an answer has or refers to, with its path. */
function* answeredSchemas(document: object): Generator<readonly [path: string, schema: Readonly<Record<string, unknown>>]> {
  const { paths, components } = document as Document;
  const todo = Object.entries(paths).flatMap(([path, operations]) =>
    Object.values(operations).map((each) => [path, each.responses] as const),
  );
  const seen = new Set<string>();
  for (const [path, value] of todo) {
    for (const [key, each] of Object.entries(value)) {
      if (typeof each === 'object' && each !== null && key !== 'example' && key !== 'examples')
        todo.push([`${path}.${key}`, each as object]);
      const [, kind = '', name = ''] = /^#\/components\/(schemas|responses)\/(.+)$/.exec(key === '$ref' ? String(each) : '') ?? [];
      const referred = components[kind as 'schemas']?.[name];
      if (referred === undefined || seen.has(String(each))) continue;
      seen.add(String(each));
      todo.push([name, referred]);
    }
    yield [path, value as Readonly<Record<string, unknown>>];
  }
}
