/** docs/reference/openapi.json: what the facade serves at /openapi.json. */
import type { GeneratedFile } from '../../crds/generate.ts';
import { describedRoutes } from '../../api/openapi/described-routes.ts';
import { openApiDocument } from '../../api/openapi/document.ts';

export function generateOpenApi(): readonly GeneratedFile[] {
  return [{ path: 'docs/reference/openapi.json', content: `${JSON.stringify(openApiDocument(describedRoutes()), null, 2)}\n` }];
}
