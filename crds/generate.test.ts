/** Checks the bounds and habits that every generated schema must keep; `structural.ts` refuses most violations, this reads the result. */
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

import { customResourceDefinitions, generateCrds, type StructuralSchema } from './generate.ts';
import { MAX_CRD_BYTES } from './generator/crd.ts';
import { meaningOf } from './generator/explain-text.ts';
import { DECIMAL, DURATION } from './schema.ts';

interface Node {
  readonly path: string;
  readonly schema: StructuralSchema;
  /** True below a list item or a map value. */
  readonly repeated: boolean;
}

function* nodes(schema: StructuralSchema, path: string, repeated = false): Generator<Node> {
  yield { path, schema, repeated };
  for (const [name, child] of Object.entries(schema.properties ?? {})) yield* nodes(child, `${path}.${name}`, repeated);
  if (schema.items !== undefined) yield* nodes(schema.items, `${path}[]`, true);
  if (schema.additionalProperties !== undefined) yield* nodes(schema.additionalProperties, `${path}{}`, true);
}

const definitions = customResourceDefinitions();
const all = definitions.flatMap((crd) => {
  const root = crd.spec.versions[0]?.schema.openAPIV3Schema;
  return ['spec', 'status'].flatMap((part) => Array.from(nodes(root?.properties?.[part] ?? {}, `${crd.spec.names.kind}.${part}`)));
});
const where = (matches: (node: Node) => boolean) => all.filter(matches).map((node) => node.path);

/** Tells whether a field is owned as a whole, by itself or with something around it. */
const ownedAsWhole = (path: string) =>
  all.some(
    (node) =>
      node.schema['x-kubernetes-map-type'] === 'atomic' &&
      (path === node.path || /^[.[{]/.test(path.slice(node.path.length))) &&
      path.startsWith(node.path),
  );

/** Tells whether a node is an object with fields, apart from the roots and the items of lists, which can't be emptied. */
const isObject = ({ path, schema }: Node) => schema.properties !== undefined && !/^\w+\.(spec|status)$/.test(path) && !path.endsWith('[]');

describe('every generated schema', () => {
  it('was walked: these paths exist', () => {
    expect(all.map((node) => node.path)).toEqual(
      expect.arrayContaining([
        'Agent.spec.dynamicData[].headers[].valueFrom.secretKeyRef.key',
        'Tool.spec.custom.http.fixedParams{}.value',
        'KnowledgeBase.status.sources[].state',
      ]) as string[],
    );
  });

  it('bounds every string', () => {
    expect(
      where(
        ({ schema }) =>
          schema.type === 'string' && schema.maxLength === undefined && schema.enum === undefined && schema.format === undefined,
      ),
    ).toEqual([]);
  });

  it('bounds every list and says how it merges', () => {
    expect(
      where(({ schema }) => schema.type === 'array' && (schema.maxItems === undefined || schema['x-kubernetes-list-type'] === undefined)),
    ).toEqual([]);
  });

  it('requires the keys of every list that has some', () => {
    expect(
      where(({ schema }) => !(schema['x-kubernetes-list-map-keys'] ?? []).every((key) => schema.items?.required?.includes(key))),
    ).toEqual([]);
  });

  it('bounds every map', () => {
    expect(
      where(
        ({ schema }) =>
          (schema.additionalProperties !== undefined ||
            (schema.type === 'object' && schema['x-kubernetes-preserve-unknown-fields'] === true)) &&
          schema.maxProperties === undefined,
      ),
    ).toEqual([]);
  });

  it('has a format on every integer', () => {
    expect(where(({ schema }) => schema.type === 'integer' && schema.format !== 'int32' && schema.format !== 'int64')).toEqual([]);
  });

  it('has no default inside list items and map values', () => {
    expect(where(({ schema, repeated }) => repeated && schema.default !== undefined)).toEqual([]);
  });

  it('has a default on every object that holds defaults and may be left out, so that the server fills them in', () => {
    const holdsDefault = ({ path, schema }: Node) =>
      schema.type === 'object' &&
      all.some((node) => node.path.startsWith(`${path}.`) && !node.repeated && node.schema.default !== undefined);
    const optionalVariants = [
      'Agent.spec.realtime',
      'Agent.spec.redaction',
      'Agent.spec.release',
      'Agent.spec.release.pin',
      'Agent.spec.release.canary',
      'Tool.spec.custom',
      'Tool.spec.mcp',
      'Tool.spec.transferCall',
      'Tool.spec.bookCalendar',
      'Tool.spec.checkCalendarAvailability',
      'PhoneNumber.spec.sip',
    ];
    const required = new Set(all.flatMap(({ path, schema }) => (schema.required ?? []).map((name) => `${path}.${name}`)));
    const lacking = all
      .filter((node) => holdsDefault(node) && node.schema.default === undefined && !required.has(node.path))
      .map((node) => node.path);
    expect(lacking.filter((path) => !/^\w+\.spec$/.test(path))).toEqual(optionalVariants);
  });

  it('can lose the last field of every object: one merged field by field would be left as null by a server-side apply, and refused', () => {
    const mayBecomeNull = where(
      (node) => isObject(node) && node.schema.required === undefined && node.schema.default === undefined && !ownedAsWhole(node.path),
    );
    // `sip` belongs to one type of three, so it can have no default; its `region` has one, which is left unless it was set and taken away too.
    expect(mayBecomeNull).toEqual(['PhoneNumber.spec.sip']);
  });

  it('keeps what is free in something that is owned as a whole', () => {
    const free = where(({ schema }) => schema['x-kubernetes-preserve-unknown-fields'] === true);
    expect(free.length).toBeGreaterThan(3);
    expect(free.filter((path) => !ownedAsWhole(path))).toEqual([]);
  });

  const isField = ({ path }: Node) => /\.(spec|status)\./.test(path) && !/(\[\]|\{\})$/.test(path);
  const lacking = (has: (schema: StructuralSchema) => readonly (string | undefined)[]) =>
    all.filter(isField).flatMap(({ path, schema }) =>
      has(schema)
        .filter((text) => text !== undefined && schema.description?.includes(text) !== true)
        .map((text) => `${path} lacks "${text}"`),
    );

  it('has a description of its own for every field, for kubectl explain', () => {
    expect(where((node) => isField(node) && meaningOf(node.schema) === '')).toEqual([]);
  });

  it('says every default, bound and form in the description', () => {
    expect(
      lacking((schema) => [
        schema.default === undefined || typeof schema.default === 'object'
          ? undefined
          : `Default: ${JSON.stringify(schema.default).replaceAll('"', '')}.`,
        schema.maximum === undefined ? undefined : ` to ${schema.maximum}`,
        schema.minimum === undefined ? undefined : `Range: ${schema.minimum} `,
        schema.maxLength === undefined || schema.pattern === DURATION.source || schema.pattern === DECIMAL.source
          ? undefined
          : `${schema.maxLength} character`,
        schema.maxItems === undefined ? undefined : `${schema.maxItems} item`,
        schema.maxProperties === undefined ? undefined : `${schema.maxProperties} entr`,
        schema.pattern === undefined && schema.format !== 'date-time' ? undefined : 'Form: ',
      ]),
    ).toEqual([]);
  });

  it('says the range and the form of every duration', () => {
    const durations = all.filter(({ schema }) => schema.pattern === DURATION.source);
    expect(durations.length).toBeGreaterThan(9);
    for (const { schema } of durations)
      expect(schema.description).toMatch(/Range: \d+m?[smh] to \d+[smh]\. Form: a duration such as 500ms/);
  });

  it('says the unit of every number that has one', () => {
    const units =
      /tokens|days|words|documents|chunks|retries|attempts|turns|calls|percent|milliseconds|ms\b|tools|agents|generation|dimension/i;
    const numbers = all.filter((node) => isField(node) && (node.schema.type === 'integer' || node.schema.type === 'number'));
    const found = numbers.filter(({ schema }) => !units.test(meaningOf(schema))).map(({ path }) => path);
    expect(found, 'name its unit in .describe(…), or the field above').toEqual([]);
  });
});

it('has short names that no other project uses, each once', () => {
  const shortNames = definitions.flatMap((crd) => crd.spec.names.shortNames);
  expect(shortNames).toEqual(expect.arrayContaining(['pagent', 'ptool', 'pphone', 'pkb', 'pwebhook', 'ptest']));
  expect(new Set(shortNames).size).toBe(shortNames.length);
  expect(shortNames).not.toContain('agent');
});

describe.each(definitions.map((crd) => [crd.spec.names.kind, crd] as const))('the CRD of %s', (_kind, crd) => {
  it(`stays below ${MAX_CRD_BYTES} bytes of JSON`, () => {
    expect(Buffer.byteLength(JSON.stringify(crd))).toBeLessThan(MAX_CRD_BYTES);
  });

  it('requires spec, stores status apart and belongs to the category', () => {
    const [version] = crd.spec.versions;
    expect(version?.schema.openAPIV3Schema.required).toEqual(['spec']);
    expect(version?.subresources).toEqual({ status: {} });
    expect(crd.spec.names.categories).toEqual(['parley']);
    const [called, ready, reason] = version?.additionalPrinterColumns ?? [];
    expect(called?.name).toMatch(/^(DisplayName|Function|Type)$/);
    expect([ready?.name, reason?.name, reason?.priority]).toEqual(['Ready', 'Reason', undefined]);
    expect(version?.additionalPrinterColumns.at(-1)?.name).toBe('Age');
  });

  it('is written as the manifest says and as a chart template that renders to the same', () => {
    const files = generateCrds().filter((file) => file.path.endsWith(`/${crd.spec.names.plural}.yaml`));
    expect(files.map((file) => file.path)).toEqual([
      `crds/generated/${crd.spec.names.plural}.yaml`,
      `charts/parley/charts/crds/templates/${crd.spec.names.plural}.yaml`,
    ]);
    const [manifest = '', template = ''] = files.map((file) => file.content);
    expect(parse(manifest)).toEqual(JSON.parse(JSON.stringify(crd)));
    expect(template).toContain('metadata:\n  {{- include "crds.metadata" . | nindent 2 }}\n  name: ');
    expect(parse(render(template))).toEqual(parse(manifest));
  });
});

/** Makes of the template what Helm does, less what its one directive puts in: the chart's own tests run Helm. */
function render(template: string): string {
  const bare = template.replace(/^ *\{\{- include [^}]*\}\}\n/m, '');
  return bare.replaceAll(/\{\{ "(\{\{|\}\})" \}\}/g, '$1');
}
