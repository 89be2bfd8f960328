/** Makes docs/reference/openapi.json, which the facade serves at /openapi.json. */
import { describedRoutes } from '../../api/openapi/described-routes.ts';
import { openApiDocument } from '../../api/openapi/document.ts';
import type { GeneratedFile } from '../../crds/generate.ts';

export function generateOpenApi(): readonly GeneratedFile[] {
  const document = openApiDocument(describedRoutes());
  return [{ path: 'docs/reference/openapi.json', content: `${JSON.stringify(document, null, 2)}\n` }];
}
