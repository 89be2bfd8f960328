/** Writes the types of the TypeScript client out of the OpenAPI document, for its build and for the compiler's check of its sources; they are not committed. */
import { readFile, writeFile } from 'node:fs/promises';

import openapiTypes, { type OpenAPITSOptions } from 'openapi-typescript';

/** Types a choice that may grow by its values of today, and a file as something that can be sent. */
const transform: OpenAPITSOptions['transform'] = (schema) => {
  const { 'x-extensible-enum': choices, format } = schema as { readonly 'x-extensible-enum'?: readonly string[]; readonly format?: string };
  if (choices !== undefined) return [...choices.map((choice) => JSON.stringify(choice)), '(string & {})'].join(' | ');
  return format === 'binary' ? 'Blob' : undefined;
};

const read = (path: string): Promise<string> => readFile(new URL(`../${path}`, import.meta.url), 'utf8');

await writeFile(
  new URL('../clients/typescript/src/schema.ts', import.meta.url),
  await openapiTypes(JSON.parse(await read('docs/reference/openapi.json')), { transform }),
);
