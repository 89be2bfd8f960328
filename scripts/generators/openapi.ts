/** docs/reference/openapi.json, which the facade serves at /openapi.json, and the types that a TypeScript client of it has. */
import openapiTypes from 'openapi-typescript';

import { describedRoutes } from '../../api/openapi/described-routes.ts';
import { openApiDocument } from '../../api/openapi/document.ts';
import type { GeneratedFile } from '../../crds/generate.ts';

export async function generateOpenApi(): Promise<readonly GeneratedFile[]> {
  const document = openApiDocument(describedRoutes());
  return [
    { path: 'docs/reference/openapi.json', content: `${JSON.stringify(document, null, 2)}\n` },
    // The generator leaves the object that it is given as it is.
    { path: 'test/integration/api/testdata/client-types.ts', content: await openapiTypes(document as never) },
  ];
}
