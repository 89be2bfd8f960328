import { Ajv, type Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';

/**
 * Just a verdict on the schema: nothing is validated with it, unknown keywords and formats are the model's business,
 * and a pattern is fine if it is fine without the `u` flag too.
 */
const options: Options = { strict: false, logger: false, unicodeRegExp: false };

/** Compiles one schema of somebody's and is thrown away: no `$id` of one organisation is ever visible to the next schema. */
const compileOnly: Options = { ...options, meta: false, validateSchema: false };

interface Dialect {
  readonly id: string;
  /** Holds nothing but the compiled meta-schema, which costs more to make than all schemas of an organisation to check. */
  readonly metaSchema: () => Ajv;
  readonly compiler: () => Ajv;
}

const draft2020: Dialect = {
  id: 'https://json-schema.org/draft/2020-12/schema',
  metaSchema: once(() => new Ajv2020(options)),
  compiler: () => new Ajv2020(compileOnly),
};

const draft07: Dialect = {
  id: 'http://json-schema.org/draft-07/schema',
  metaSchema: once(() => new Ajv(options)),
  compiler: () => new Ajv(compileOnly),
};

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

/**
 * @returns what is wrong with a JSON Schema, or `undefined` for a sound one. Dialects: draft 2020-12 and draft-07; without `$schema` either will do.
 * References that leave the schema are never fetched, they are a fault.
 */
export function jsonSchemaFault(schema: Readonly<Record<string, unknown>>): string | undefined {
  const { $schema: named, ...rest } = schema;
  if (named === undefined) {
    const fault = faultIn(rest, draft2020);
    return fault === undefined || faultIn(rest, draft07) === undefined ? undefined : fault;
  }
  const dialect = [draft2020, draft07].find(({ id }) => named === id || named === `${id}#`);
  if (dialect === undefined) return `$schema must be ${draft2020.id} or ${draft07.id}#`;
  return faultIn(rest, dialect);
}

/** @param schema without `$schema`, which would ask the compiler for a meta-schema that it doesn't hold. */
function faultIn(schema: Readonly<Record<string, unknown>>, dialect: Dialect): string | undefined {
  const metaSchema = dialect.metaSchema();
  if (metaSchema.validateSchema(schema) !== true) return metaSchema.errorsText(metaSchema.errors, { dataVar: 'schema' });
  try {
    dialect.compiler().compile({ ...schema, $async: false });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
