/** Finds in the schema of a kind where each kind of change is possible, and makes the schema of v1 of it. */
import type { StructuralSchema } from '../../../crds/generate.ts';
import { unionsOf } from '../../support/generated-objects.ts';
import type { Change, Steps } from './changes.ts';

interface Node {
  readonly at: Steps;
  readonly schema: StructuralSchema;
  /** What is in the items of a list has no path of its own: nothing can be kept for it. */
  readonly inList: boolean;
  /** Fields that a rule of this object or of one around it speaks of, and keys of the list that it is an item of. */
  readonly isBound: (field: string) => boolean;
}

/** Names that no kind has. */
const FUTURE = 'Future';

/** Returns one change of each type that the schema has room for, none of which meets another one. */
export function changesOf(spec: StructuralSchema): readonly Change[] {
  const changes: Change[] = [];
  const nodes = [...walk(spec, { at: [], inList: false, isBound: () => false })];
  for (const candidates of [newMembers, newValues, listsToMaps, moves, splits, removals, renames]) {
    const change = nodes.flatMap((node) => Array.from(candidates(node))).find((each) => !changes.some((other) => meet(each, other)));
    if (change !== undefined) changes.push(change);
  }
  return changes;
}

/** Tells whether the changes are about the same field, or about one below the other's. */
function meet(one: Change, other: Change): boolean {
  const [own, others] = [one, other].map((change) => fieldsOf(change).map((field) => [...change.at, field, ''].join('.')));
  return (own ?? []).some((field) => (others ?? []).some((each) => field.startsWith(each) || each.startsWith(field)));
}

function fieldsOf(change: Change): readonly string[] {
  switch (change.type) {
    case 'move':
      return [`${change.from}.${change.field}`, change.to];
    case 'newMember':
      return [change.discriminator, change.member];
    default:
      return [change.field];
  }
}

function* walk(schema: StructuralSchema, { at, inList, isBound }: Omit<Node, 'schema'>, keys: readonly string[] = []): Generator<Node> {
  const rules = (schema['x-kubernetes-validations'] ?? []).map(({ rule }) => rule);
  const bound = (field: string): boolean =>
    keys.includes(field) || isBound(field) || rules.some((rule) => new RegExp(String.raw`\.${field}\b`).test(rule));
  if (schema.properties !== undefined) yield { at, schema, inList, isBound: bound };
  for (const [name, child] of Object.entries(schema.properties ?? {})) yield* walk(child, { at: [...at, name], inList, isBound: bound });
  if (schema.items !== undefined)
    yield* walk(schema.items, { at: [...at, '[]'], inList: true, isBound: bound }, schema['x-kubernetes-list-map-keys']);
}

type Fields = readonly (readonly [string, StructuralSchema])[];

const fieldsIn = ({ schema, isBound }: Node): Fields => Object.entries(schema.properties ?? {}).filter(([name]) => !isBound(name));

/** Returns those that may be absent, and that the API server doesn't fill in. */
const optionalIn = (node: Node): Fields =>
  fieldsIn(node).filter(([name, { default: fallback }]) => fallback === undefined && !(node.schema.required ?? []).includes(name));

const isPlain = ({ type }: StructuralSchema): boolean => type !== 'object' && type !== 'array';
const isText = ({ type, enum: values, pattern, format, maxLength = 0 }: StructuralSchema): boolean =>
  type === 'string' && values === undefined && pattern === undefined && format === undefined && maxLength >= 100;

function* renames(node: Node): Generator<Change> {
  for (const [field] of fieldsIn(node)) yield { type: 'rename', at: node.at, field, to: `${field}${FUTURE}` };
}

function* moves(node: Node): Generator<Change> {
  for (const [from, schema] of Object.entries(node.schema.properties ?? {})) {
    // Where the object may be absent it could not be told from one that is empty.
    if (node.inList || schema.type !== 'object' || !(node.schema.required ?? []).includes(from)) continue;
    const [inner] = walk(schema, node);
    for (const [field, each] of inner === undefined ? [] : optionalIn(inner))
      if (isPlain(each)) yield { type: 'move', at: node.at, from, field, to: `${field}${FUTURE}` };
  }
}

function* splits(node: Node): Generator<Change> {
  for (const [field, each] of optionalIn(node))
    if (isText(each)) yield { type: 'split', at: node.at, field, into: [`${field}Head`, `${field}Tail`] };
}

function* removals(node: Node): Generator<Change> {
  for (const [field, each] of optionalIn(node)) if (!node.inList && isPlain(each)) yield { type: 'remove', at: node.at, field };
}

function* listsToMaps(node: Node): Generator<Change> {
  for (const [field, list] of fieldsIn(node)) {
    const [key, ...more] = list['x-kubernetes-list-map-keys'] ?? [];
    const rules = [...(list['x-kubernetes-validations'] ?? []), ...(list.items?.['x-kubernetes-validations'] ?? [])];
    if (!node.inList && key !== undefined && more.length === 0 && !rules.some(({ rule }) => rule.includes(`.${key}`)))
      yield { type: 'listToMap', at: node.at, field, key };
  }
}

function* newMembers({ at, schema, inList }: Node): Generator<Change> {
  for (const { discriminator } of inList ? [] : unionsOf(schema))
    yield { type: 'newMember', at, discriminator, value: FUTURE, member: 'future' };
}

function* newValues({ at, schema }: Node): Generator<Change> {
  for (const [field, each] of Object.entries(schema.properties ?? {}))
    if (each.enum !== undefined && !unionsOf(schema).some(({ discriminator }) => discriminator === field))
      yield { type: 'newValue', at, field, value: FUTURE };
}

/** Returns the schema of `spec` in v1. */
export function schemaOfV1(spec: StructuralSchema, changes: readonly Change[]): StructuralSchema {
  const schema = structuredClone(spec);
  for (const change of changes) {
    const parent = change.at.reduce<StructuralSchema>((node, step) => (step === '[]' ? node.items : node.properties?.[step]) ?? {}, schema);
    apply(parent, change);
  }
  return schema;
}

const ruled = (schema: StructuralSchema, rule: string, message: string): void => {
  schema['x-kubernetes-validations'] = [...(schema['x-kubernetes-validations'] ?? []), { rule, message }];
};

function apply(parent: StructuralSchema, change: Change): void {
  const properties = (parent.properties ??= {});
  switch (change.type) {
    case 'rename':
      properties[change.to] = taken(properties, change.field);
      if (parent.required?.includes(change.field))
        parent.required = [...parent.required.filter((name) => name !== change.field), change.to];
      return;
    case 'move':
      properties[change.to] = taken(properties[change.from]?.properties ?? {}, change.field);
      return;
    case 'split': {
      const [head, tail] = change.into;
      const text = taken(properties, change.field);
      properties[head] = { ...text, pattern: '^[^ ]*$' };
      properties[tail] = { ...text };
      ruled(parent, `!has(self.${tail}) || has(self.${head})`, `set ${head} with ${tail}`);
      return;
    }
    case 'listToMap': {
      const { items = {}, maxItems } = taken(properties, change.field);
      const item = structuredClone(items);
      taken(item.properties ?? {}, change.key);
      item.required = (item.required ?? []).filter((name) => name !== change.key);
      if (item.required.length === 0) delete item.required;
      properties[change.field] = { type: 'object', additionalProperties: item, ...(maxItems !== undefined && { maxProperties: maxItems }) };
      return;
    }
    case 'remove':
      taken(properties, change.field);
      return;
    case 'newValue':
      addValue(properties, change.field, change.value);
      return;
    case 'newMember':
      addValue(properties, change.discriminator, change.value);
      properties[change.member] = { type: 'object', properties: { note: { type: 'string', maxLength: 100 } } };
      ruled(
        parent,
        `has(self.${change.member}) == (self.${change.discriminator} == '${change.value}')`,
        `set ${change.member} with type ${change.value}`,
      );
  }
}

function taken(properties: Record<string, StructuralSchema>, name: string): StructuralSchema {
  const { [name]: schema = {} } = properties;
  delete properties[name];
  return schema;
}

function addValue(properties: Record<string, StructuralSchema>, name: string, value: string): void {
  const schema = properties[name] ?? {};
  properties[name] = { ...schema, enum: [...(schema.enum ?? []), value] };
}
