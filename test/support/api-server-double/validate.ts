/** What doesn't fit a schema, in the words of the API server. */
import type { StatusCause } from '../../../kube/error.ts';
import { itemMember } from './members.ts';
import { fieldSchema, isObject, itemSchema, type JsonSchema } from './schema.ts';

/** Problems of an applied object that the merge itself stumbles over: `.spec.x: field not declared in schema`. */
export function typedErrors(value: unknown, schema: JsonSchema): readonly string[] {
  const errors: string[] = [];
  const walk = (at: unknown, type: JsonSchema, path: string): void => {
    if (at === null || at === undefined) return;
    const wrong = wrongType(at, type);
    if (wrong !== undefined) {
      errors.push(`${path}: ${wrong}`);
    } else if (Array.isArray(at)) {
      if (type['x-kubernetes-list-type'] === 'map') errors.push(...keyErrors(at, type, path));
      at.forEach((item, index) => walk(item, itemSchema(type), `${path}[${index}]`));
    } else if (isObject(at)) {
      for (const [name, child] of Object.entries(at)) {
        const field = fieldSchema(type, name);
        if (field === undefined) errors.push(`${path}.${name}: field not declared in schema`);
        else walk(child, field, `${path}.${name}`);
      }
    }
  };
  walk(value, schema, '');
  return errors;
}

function keyErrors(items: readonly unknown[], schema: JsonSchema, path: string): readonly string[] {
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const bare = items.findIndex(
    (item) => isObject(item) && keys.every((key) => item[key] === undefined && schema.items?.properties?.[key]?.default === undefined),
  );
  if (bare >= 0)
    return [
      `${path}: element ${bare}: associative list with keys has an element that omits all key fields ${JSON.stringify(keys)} (and doesn't have default values for any key fields)`,
    ];
  const members = items.map((item) => itemMember(item, schema));
  const twice = members.find((member, index) => members.indexOf(member) !== index);
  return twice === undefined ? [] : [`${path}: duplicate entries for key ${twice.slice(2)}`];
}

function wrongType(value: unknown, schema: JsonSchema): string | undefined {
  if (schema['x-kubernetes-int-or-string'])
    return typeof value === 'string' || typeof value === 'number' ? undefined : 'expected int or string';
  switch (schema.type) {
    case 'string':
      return typeof value === 'string' ? undefined : `expected string, got &value.valueUnstructured{Value:${JSON.stringify(value)}}`;
    case 'integer':
    case 'number':
      return typeof value === 'number' ? undefined : `expected numeric (int or float), got ${typeof value}`;
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `expected boolean, got ${typeof value}`;
    case 'array':
      return Array.isArray(value) ? undefined : `expected list, got &{${JSON.stringify(value)}}`;
    case 'object':
      return isObject(value) ? undefined : `expected map, got &{${JSON.stringify(value)}}`;
    default:
      return undefined;
  }
}

/** Problems of the whole object: types, bounds, patterns, what is required. */
export function valueErrors(value: unknown, schema: JsonSchema): readonly StatusCause[] {
  const causes: StatusCause[] = [];
  const walk = (at: unknown, type: JsonSchema, path: string): void => {
    if (at === undefined || (at === null && (type.nullable || type.type === undefined))) return;
    if (at === null || wrongType(at, type) !== undefined || (type.type === 'integer' && !Number.isInteger(at))) {
      const found = JSON.stringify(jsonType(at));
      causes.push({
        reason: 'FieldValueTypeInvalid',
        field: path,
        message: `Invalid value: ${found}: ${path} in body must be of type ${type.type}: ${found}`,
      });
      return;
    }
    for (const [reason, message] of bounds(at, type, path)) causes.push({ reason, field: path, message });
    if (Array.isArray(at)) at.forEach((item, index) => walk(item, itemSchema(type), `${path}[${index}]`));
    if (!isObject(at)) return;
    for (const name of type.required ?? []) {
      if (at[name] === undefined) causes.push({ reason: 'FieldValueRequired', field: join(path, name), message: 'Required value' });
    }
    for (const [name, child] of Object.entries(at)) walk(child, fieldSchema(type, name) ?? {}, join(path, name));
  };
  walk(value, schema, '');
  return causes;
}

function* bounds(value: unknown, schema: JsonSchema, path: string): Generator<readonly [reason: string, message: string]> {
  if (schema.enum !== undefined && !schema.enum.includes(value)) {
    yield [
      'FieldValueNotSupported',
      `Unsupported value: ${JSON.stringify(value)}: supported values: ${schema.enum.map((each) => JSON.stringify(each)).join(', ')}`,
    ];
  }
  if (typeof value === 'string') {
    const length = Array.from(value).length;
    if (schema.maxLength !== undefined && length > schema.maxLength)
      yield ['FieldValueTooLong', `Too long: may not be more than ${schema.maxLength} bytes`];
    if (schema.minLength !== undefined && length < schema.minLength)
      yield [
        'FieldValueInvalid',
        `Invalid value: ${JSON.stringify(value)}: ${path} in body should be at least ${schema.minLength} chars long`,
      ];
    if (schema.pattern !== undefined && !new RegExp(schema.pattern).test(value))
      yield ['FieldValueInvalid', `Invalid value: ${JSON.stringify(value)}: ${path} in body should match '${schema.pattern}'`];
  }
  if (typeof value === 'number') {
    if (schema.minimum !== undefined && value < schema.minimum)
      yield ['FieldValueInvalid', `Invalid value: ${value}: ${path} in body should be greater than or equal to ${schema.minimum}`];
    if (schema.maximum !== undefined && value > schema.maximum)
      yield ['FieldValueInvalid', `Invalid value: ${value}: ${path} in body should be less than or equal to ${schema.maximum}`];
  }
  if (Array.isArray(value)) {
    if (schema.maxItems !== undefined && value.length > schema.maxItems)
      yield ['FieldValueTooMany', `Too many: ${value.length}: must have at most ${schema.maxItems} items`];
    if (schema.minItems !== undefined && value.length < schema.minItems)
      yield ['FieldValueInvalid', `Invalid value: ${value.length}: ${path} in body should have at least ${schema.minItems} items`];
  }
  if (isObject(value) && schema.maxProperties !== undefined && Object.keys(value).length > schema.maxProperties) {
    yield ['FieldValueTooMany', `Too many: ${Object.keys(value).length}: must have at most ${schema.maxProperties} items`];
  }
}

function jsonType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'number' ? (Number.isInteger(value) ? 'integer' : 'number') : typeof value;
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
