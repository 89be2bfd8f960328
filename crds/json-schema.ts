import { createHash } from 'node:crypto';

import { Ajv, type Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';

import { cutText } from '../platform/cut-text.ts';
import { LruMap } from '../platform/lru.ts';
import { hasMoreSubschemas, referenceFault } from './json-schema-references.ts';

/** Unknown keywords and formats are the model's business. */
const options: Options = { strict: false, logger: false };

interface Dialect {
  readonly id: string;
  /** Returns an Ajv with nothing but the compiled meta-schema, which costs more to make than all schemas of an organisation to check. */
  readonly metaSchema: () => Ajv;
}

const draft2020: Dialect = { id: 'https://json-schema.org/draft/2020-12/schema', metaSchema: once(() => new Ajv2020(options)) };
const draft07: Dialect = { id: 'http://json-schema.org/draft-07/schema', metaSchema: once(() => new Ajv(options)) };

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

/** Most subschemas of one schema. People write a few dozen; a validator of more takes seconds to compile. */
export const MAX_SUBSCHEMAS = 1000;

/** Longest fault, in characters: a path within the schema may be as long as the schema. */
const FAULT_CHARACTERS = 500;

/** Verdicts by the hash of the schema: one schema is judged at each write, by facade and operator, and for each agent that uses its tool. */
const verdicts = new LruMap<string, { readonly fault: string | undefined }>(2000);

/** Compiles the meta-schemas when a server starts, and not while a request waits: it takes a tenth of a second. */
export function prepareJsonSchemas(): void {
  for (const dialect of [draft2020, draft07]) metaSchemaFault({}, dialect);
}

/**
 * Checks a schema without compiling it: compilers take time that grows with the square of a schema's size and more, and this runs where other
 * requests wait. Takes a few milliseconds for the largest schema, once.
 *
 * @param schema at most 32 KiB of JSON, 32 levels deep (`freeJson`)
 * @returns what is wrong with a JSON Schema, or `undefined` for a sound one. Dialects: draft 2020-12 and draft-07; without `$schema` either will do.
 * References that leave the schema are never fetched, they are a fault.
 */
export function jsonSchemaFault(schema: Readonly<Record<string, unknown>>): string | undefined {
  const hash = createHash('sha256').update(JSON.stringify(schema)).digest('base64');
  let verdict = verdicts.get(hash);
  if (verdict === undefined) {
    const fault = schemaFault(schema);
    verdict = { fault: fault && cutText(fault, FAULT_CHARACTERS) };
    verdicts.set(hash, verdict);
  }
  return verdict.fault;
}

function schemaFault(schema: Readonly<Record<string, unknown>>): string | undefined {
  if (hasMoreSubschemas(schema, MAX_SUBSCHEMAS)) return `it holds more than ${MAX_SUBSCHEMAS} schemas; make it simpler`;
  const { $schema: named } = schema;
  if (named === undefined) {
    const fault = metaSchemaFault(schema, draft2020);
    if (fault !== undefined && metaSchemaFault(schema, draft07) !== undefined) return fault;
    return referenceFault(schema);
  }
  const dialect = [draft2020, draft07].find(({ id }) => named === id || named === `${id}#`);
  if (dialect === undefined) return `$schema must be ${draft2020.id} or ${draft07.id}#`;
  return metaSchemaFault(schema, dialect) ?? referenceFault(schema);
}

function metaSchemaFault(schema: Readonly<Record<string, unknown>>, { metaSchema: compiled }: Dialect): string | undefined {
  const metaSchema = compiled();
  return metaSchema.validateSchema(schema) === true ? undefined : metaSchema.errorsText(metaSchema.errors, { dataVar: 'schema' });
}
