import { z } from 'zod';

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
 * JSON Schema silently drops what it has no word for (transforms, refinements, flags of patterns): a CRD made from it would let through
 * what zod refuses. So these are looked for in zod itself.
 * @returns the first one in the order of zod's walk.
 */
export function findUnrepresentable(schema: z.ZodType): Unrepresentable | undefined {
  const found: Unrepresentable[] = [];
  z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, path }) => {
      const definition = (zodSchema as unknown as { readonly _zod: { readonly def: Definition } })._zod.def;
      const problem = problemOf(definition);
      if (problem !== undefined) found.push({ path: [...path], problem });
    },
  });
  return found[0];
}

function problemOf(definition: Definition): string | undefined {
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
