/** Writes the types of a TypeScript client of the API, which `test/integration/api/typed-client.test.ts` is compiled with; they are not committed. */
import { readFile, writeFile } from 'node:fs/promises';

import openapiTypes from 'openapi-typescript';

const read = (path: string): Promise<string> => readFile(new URL(`../${path}`, import.meta.url), 'utf8');

await writeFile(
  new URL('../test/integration/api/client-types.ts', import.meta.url),
  await openapiTypes(JSON.parse(await read('docs/reference/openapi.json'))),
);
