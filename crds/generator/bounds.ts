import type { StructuralSchema } from './structural-schema.ts';

/**
 * Everything in a resource is bounded: it keeps objects small, and without bounds the API server refuses CEL rules as too costly.
 * @returns what is missing at this node.
 */
export function checkBounds(schema: StructuralSchema): string | undefined {
  if (schema.type === 'string' && schema.maxLength === undefined && schema.enum === undefined && schema.format === undefined)
    return 'a string needs maxLength, an enum or a format';
  if (schema['x-kubernetes-int-or-string'] === true && (schema.maxLength === undefined || schema.maximum === undefined))
    return 'an int-or-string needs maximum and maxLength';
  if (schema.type === 'array') {
    if (schema.maxItems === undefined) return 'a list needs maxItems';
    if (schema['x-kubernetes-list-type'] === undefined) return 'a list needs x-kubernetes-list-type';
  }
  const isMap =
    schema.additionalProperties !== undefined || (schema.type === 'object' && schema['x-kubernetes-preserve-unknown-fields'] === true);
  if (isMap && schema.maxProperties === undefined) return 'a map needs maxProperties';
  return undefined;
}
