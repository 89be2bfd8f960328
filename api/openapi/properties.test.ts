import { describe, expect, it } from 'vitest';

import { describedRoutes } from './described-routes.ts';
import { openApiDocument } from './document.ts';

interface Schema {
  readonly $ref?: string;
  readonly type?: unknown;
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly discriminator?: { readonly propertyName: string; readonly mapping: Readonly<Record<string, string>> };
}

const { components, paths } = openApiDocument(describedRoutes()) as unknown as {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  readonly paths: Readonly<Record<string, unknown>>;
};
const { schemas } = components;

const properties = [...propertiesIn({ paths, schemas }, '')];
const text = (component: string, name: string): string => schemas[component]?.properties?.[name]?.description ?? '';

describe('the properties of the OpenAPI document', () => {
  it('are all described', () => {
    expect(properties.length).toBeGreaterThan(800);
    expect(properties.filter(([, { description = '' }]) => description.trim() === '').map(([path]) => path)).toEqual([]);
  });

  it('have no names of the resource in their texts', () => {
    const foreign = properties.filter(([, { description = '' }]) => /\b[a-z]+[A-Z]\w*\b/.test(description.replaceAll(/`[^`]*`/g, '')));
    expect(foreign.map(([path, { description }]) => `${path}: ${description}`)).toEqual([]);
  });

  it('say what the resource says, with the unit and the default of REST', () => {
    expect(text('AgentCreate', 'max_call_duration_seconds')).toBe('Longest call. In seconds. Default: `1800`.');
    expect(text('Agent', 'max_call_duration_seconds')).toBe('Longest call. In seconds.');
    expect(text('AgentCreate', 'enable_user_interruptions')).toBe('Whether the user may interrupt the agent. Default: `true`.');
    expect(text('LanguageModel', 'api_key')).toContain('`"********"`');
    expect(text('SipPhoneNumberCreate', 'sip_infra_region')).toBe('Where the call enters; bd is Bangladesh. Default: `global`.');
    // Forms of the same field have the same text.
    expect(text('LanguageModelFallbackCreate', 'model_name')).toBe(text('LanguageModelCreate', 'model_name'));
  });

  it('have examples where a type says little', () => {
    expect(schemas['AgentCreate']?.properties?.['agent_name']?.examples).toHaveLength(1);
    expect(schemas['AgentUpdate']?.properties?.['agent_name']?.examples).toHaveLength(1);
  });
});

describe('names', () => {
  it('are none that a generator of clients makes of another one', () => {
    const pascal = (name: string): string => name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const inline = ({ type, anyOf = [], items }: Schema): boolean =>
      type === 'object' || anyOf.some(inline) || (items !== undefined && inline(items));
    // In Go, the constructor of `X` is `NewX`; an object without a name is called after its property.
    const made = Object.entries(schemas).flatMap(([name, { properties: own = {} }]) =>
      [['New', name], ...Object.keys(own).flatMap((property) => (inline(own[property] ?? {}) ? [[name, pascal(property)]] : []))].map(
        (parts) => parts.join(''),
      ),
    );
    expect(made).toContain('CallMetadata');
    expect(made.filter((name) => name in schemas)).toEqual([]);
  });
});

describe('unions', () => {
  it('have variants with names, and a discriminator where each request or answer says which is meant', () => {
    const unions = Object.entries(schemas).filter(([, { anyOf }]) => anyOf !== undefined);
    for (const [name, { anyOf = [] }] of unions)
      expect(
        anyOf.map(({ $ref }) => $ref),
        name,
      ).not.toContain(undefined);
    expect(unions.filter(([, { discriminator }]) => discriminator !== undefined).map(([name]) => name)).toEqual([
      'BuiltinTool',
      'BuiltinToolCreate',
      'BuiltinToolUpdate',
      'CallEvent',
      'PhoneNumber',
    ]);
    // A request may leave its `provider` out.
    expect(schemas['PhoneNumberCreate']?.anyOf).toHaveLength(3);
    expect(schemas['PhoneNumber']?.discriminator).toEqual({
      propertyName: 'provider',
      mapping: {
        sip: '#/components/schemas/SipPhoneNumber',
        native: '#/components/schemas/NativePhoneNumber',
        carrier: '#/components/schemas/CarrierPhoneNumber',
      },
    });
  });

  it('have their discriminator required in every variant', () => {
    const missing = Object.values(schemas).flatMap(({ discriminator, anyOf = [] }) =>
      anyOf
        .map(({ $ref = '' }) => $ref.split('/').at(-1) ?? '')
        .filter((variant) => discriminator !== undefined && schemas[variant]?.required?.includes(discriminator.propertyName) !== true),
    );
    expect(missing).toEqual([]);
  });
});

function* propertiesIn(value: unknown, path: string): Generator<readonly [path: string, schema: Schema]> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, each] of Object.entries(value)) {
    if (['example', 'examples', 'default'].includes(key)) continue;
    const own = (value as Schema).properties;
    if (key === 'properties' && own !== undefined && !path.endsWith('.properties')) {
      for (const [name, schema] of Object.entries(own)) yield [`${path}.${name}`, schema];
    }
    yield* propertiesIn(each, `${path}.${key}`);
  }
}
