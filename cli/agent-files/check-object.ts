/**
 * Says what the API server and the operator would say of an object, without either of them: it checks the schema of its kind with the CEL
 * rules, fields that the kind doesn't have, and what neither can express.
 */
import { Environment } from '@marcbachmann/cel-js';
import { z } from 'zod';

import { agentProblems, knowledgeBaseProblems, toolProblems, type SpecProblem } from '../../crds/limits.ts';
import { agentTestProblems } from '../../crds/agent-test-problems.ts';
import { agentKind, agentTestKind, knowledgeBaseKind, toolKind } from '../../crds/index.ts';
import type { KindDefinition } from '../../crds/kind.ts';
import { isObject } from '../../platform/json.ts';
import { wordIssue } from './schema-messages.ts';

/** The kinds that a test needs. */
export const testedKinds = [agentKind, toolKind, knowledgeBaseKind, agentTestKind] as const;

const limits: Readonly<Record<string, (spec: never) => readonly SpecProblem[]>> = {
  Agent: agentProblems,
  Tool: toolProblems,
  KnowledgeBase: knowledgeBaseProblems,
  AgentTest: agentTestProblems,
};

/** The spec as the API server would store it, or why it would refuse the object. */
export type CheckedSpec = { readonly spec: unknown; readonly problems: readonly SpecProblem[] };

export function checkSpec(kind: KindDefinition, spec: unknown): CheckedSpec {
  const result = kind.spec.safeParse(spec ?? {}, { reportInput: true });
  const shape = [
    ...(result.success ? [] : result.error.issues.map((issue) => toSpecProblem(issue, spec))),
    ...unknownFields(schemaOf(kind), spec ?? {}, 'spec'),
  ];
  if (!result.success || shape.length > 0) return { spec: undefined, problems: shape };
  const rules = brokenRules(schemaOf(kind), result.data, 'spec');
  if (rules.length > 0) return { spec: undefined, problems: rules };
  return { spec: result.data, problems: limits[kind.descriptor.kind]?.(result.data as never) ?? [] };
}

interface Rule {
  readonly rule: string;
  readonly message?: string;
  readonly fieldPath?: string;
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-validations'?: readonly Rule[];
}

const schemas = new Map<KindDefinition, Schema>();

function schemaOf(kind: KindDefinition): Schema {
  const known = schemas.get(kind) ?? (z.toJSONSchema(kind.spec, { io: 'input', unrepresentable: 'any' }) as Schema);
  schemas.set(kind, known);
  return known;
}

function toSpecProblem(issue: z.core.$ZodIssue, spec: unknown): SpecProblem {
  const at = issue.path.reduce<string>((text, step) => (typeof step === 'number' ? `${text}[${step}]` : `${text}.${String(step)}`), 'spec');
  const parent = issue.path
    .slice(0, -1)
    .reduce<unknown>((value, step) => (value as Readonly<Record<PropertyKey, unknown>> | undefined)?.[step], spec);
  return { path: at, message: wordIssue(issue, parent ?? {}) };
}

/** The API server would drop unknown fields, and with a misspelt expectation a test would pass. */
function unknownFields(schema: Schema, value: unknown, path: string): readonly SpecProblem[] {
  const names = Object.keys(schema.properties ?? {});
  const open = schema['x-kubernetes-preserve-unknown-fields'] === true || schema.additionalProperties !== undefined || names.length === 0;
  const strange = !isObject(value) || open ? [] : Object.keys(value).filter((name) => !names.includes(name));
  return [
    ...strange.map((name) => ({ path: `${path}.${name}`, message: `is not a field here: use one of ${names.join(', ')}` })),
    ...childrenOf(schema, value, path).flatMap((child) => unknownFields(child.schema, child.value, child.path)),
  ];
}

function childrenOf(
  schema: Schema,
  value: unknown,
  path: string,
): readonly { readonly schema: Schema; readonly value: unknown; readonly path: string }[] {
  const { properties = {}, items, additionalProperties } = schema;
  if (Array.isArray(value))
    return items === undefined ? [] : value.map((item, index) => ({ schema: items, value: item, path: `${path}[${index}]` }));
  return Object.entries(isObject(value) ? value : {}).flatMap(([name, field]) => {
    const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const found = own ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined);
    return found === undefined || field === undefined ? [] : [{ schema: found, value: field, path: `${path}.${name}` }];
  });
}

/** Skips rules about a change: they have nothing to compare with. */
export function brokenRules(schema: Schema, value: unknown, path: string): readonly SpecProblem[] {
  const own = (schema['x-kubernetes-validations'] ?? []).flatMap(({ rule, message = rule, fieldPath = '' }) =>
    rule.includes('oldSelf') || holds(rule, value) ? [] : [{ path: `${path}${fieldPath}`, message }],
  );
  return [...own, ...childrenOf(schema, value, path).flatMap((child) => brokenRules(child.schema, child.value, child.path))];
}

const compiled = new Map<string, ReturnType<Environment['parse']>>();
let environment: Environment | undefined;

function holds(rule: string, self: unknown): boolean {
  environment ??= new Environment({ unlistedVariablesAreDyn: true });
  const program = compiled.get(rule) ?? environment.parse(rule);
  compiled.set(rule, program);
  return program({ self: withIntegers(self) }) === true;
}

/** CEL takes a whole number of JSON for an integer. */
function withIntegers(value: unknown): unknown {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  if (Array.isArray(value)) return value.map(withIntegers);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([name, field]) => (field === undefined ? [] : [[name, withIntegers(field)]])));
}
