/** Converts the schema of a tool's arguments into one that every provider of models takes. */
import { outlineOf } from '../../crds/json-schema-outline.ts';
import type { JsonObject } from '../../platform/json.ts';

/** Keywords for which OpenAI and Anthropic refuse a whole request if one function has them outside its properties. */
const REFUSED: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'not', 'enum', '$ref']);

/**
 * Returns an object with the properties that the schema and its alternatives name: it allows more than the schema, by which the arguments
 * are checked. It always has `properties`, without which OpenAI refuses it.
 */
export function offeredParameters(schema: JsonObject): JsonObject & { readonly type: 'object' } {
  const { properties: described, required } = outlineOf(schema);
  // A server may require what it doesn't describe; Gemini refuses a whole request for it.
  const properties = { ...Object.fromEntries(required.map((name) => [name, {}])), ...described };
  const rest = Object.entries(schema).filter(([keyword]) => !REFUSED.has(keyword) && keyword !== 'required');
  return { ...Object.fromEntries(rest), type: 'object', properties, ...(required.length > 0 && { required }) };
}
