/** Finds what keeps a schema out of a CRD: lost in JSON Schema, without bounds, or a pattern that RE2 reads differently. */
import { z } from 'zod';

import type { StructuralSchema } from './structural-schema.ts';

export interface Unrepresentable {
  readonly path: readonly (string | number)[];
  readonly problem: string;
}

/** The part of a zod schema's definition that is looked at here. */
interface Definition {
  readonly type: string;
  readonly checks?: readonly {
    readonly _zod: { readonly def: { readonly check: string; readonly format?: string; readonly pattern?: RegExp } };
  }[];
}

/**
 * Finds what JSON Schema silently drops because it has no word for it (transforms, refinements, flags of patterns): a CRD made from it
 * would let through what zod refuses.
 * @returns the first one in the order of zod's walk.
 */
export function findUnrepresentable(schema: z.ZodType): Unrepresentable | undefined {
  const found: Unrepresentable[] = [];
  z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, path }) => {
      const definition = (zodSchema as unknown as { readonly _zod: { readonly def: Definition } })._zod.def;
      const problem = definitionProblem(definition);
      if (problem !== undefined) found.push({ path: [...path], problem });
    },
  });
  return found[0];
}

function definitionProblem(definition: Definition): string | undefined {
  if (definition.type === 'pipe' || definition.type === 'transform') return 'a transform can not run in the API server';
  if (definition.type === 'tuple') return 'a tuple has no structural form';
  for (const check of definition.checks ?? []) {
    const { check: kind, pattern } = check._zod.def;
    if (kind === 'custom') return 'a refinement can not run in the API server; write a CEL rule';
    if (kind === 'overwrite') return 'trim, toLowerCase and the like can not run in the API server';
    if (pattern !== undefined && pattern.flags.replaceAll(/[uv]/g, '') !== '')
      return `flags of ${String(pattern)} are lost in the API server; write the pattern without them`;
  }
  return undefined;
}

/**
 * Checks that everything in a resource is bounded: it keeps objects small, and without bounds the API server refuses CEL rules as too
 * costly.
 * @returns what is missing at this node.
 */
export function checkBounds(schema: StructuralSchema): string | undefined {
  if (schema.type === 'string' && schema.maxLength === undefined && schema.enum === undefined && schema.format === undefined)
    return 'a string needs maxLength, an enum or a format';
  if (schema.type === 'array') {
    if (schema.maxItems === undefined) return 'a list needs maxItems';
    if (schema['x-kubernetes-list-type'] === undefined) return 'a list needs x-kubernetes-list-type';
  }
  const isMap =
    schema.additionalProperties !== undefined || (schema.type === 'object' && schema['x-kubernetes-preserve-unknown-fields'] === true);
  if (isMap && schema.maxProperties === undefined) return 'a map needs maxProperties';
  return undefined;
}

/** Constructs of JavaScript's regular expressions that RE2, which the API server uses, lacks or reads differently. */
const foreign: readonly { readonly construct: RegExp; readonly name: string }[] = [
  { construct: /\(\?=|\(\?!/, name: 'a lookahead' },
  { construct: /\(\?<=|\(\?<!/, name: 'a lookbehind' },
  { construct: /\\k<|\\[1-9]/, name: 'a backreference' },
  { construct: /\\u|\\c[A-Za-z]|\\0/, name: 'a \\u, \\c or \\0 escape' },
  { construct: /\[\^?\]/, name: 'an empty class' },
];

/** Largest repetition that RE2 takes. */
const MAX_REPEAT = 1000;

/** @returns what keeps `pattern` from meaning the same to the API server, if anything does. */
export function checkPattern(pattern: unknown): string | undefined {
  if (typeof pattern !== 'string') return undefined;
  // The character behind an escaped backslash is no escape: take those pairs out first.
  const bare = pattern.replaceAll('\\\\', '');
  const found = foreign.find(({ construct }) => construct.test(bare));
  if (found !== undefined) return `pattern ${pattern} holds ${found.name}, which RE2 does not know`;
  for (const match of bare.matchAll(/\{(\d+)(?:,(\d*))?\}/g)) {
    if (Math.max(Number(match[1]), Number(match[2] ?? 0)) > MAX_REPEAT)
      return `pattern ${pattern} repeats more than ${MAX_REPEAT} times, which RE2 refuses`;
  }
  return undefined;
}
