/** Finds the files of the documentation page: Swagger UI's own, and one of ours that starts it. Nothing comes from elsewhere. */
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { locateAsset } from '../../platform/assets.ts';

/** Folder next to the code in `dist/`, where the build copies the files that {@link assetTypes} names. */
export const ASSET_FOLDER = 'swagger-ui';

/** Content types of the files that are taken from the package. */
export const assetTypes = {
  'swagger-ui-bundle.js': 'text/javascript',
  'swagger-ui.css': 'text/css',
  'favicon-32x32.png': 'image/png',
} as const;

export type AssetName = keyof typeof assetTypes;

export function isAsset(name: string): name is AssetName {
  return Object.hasOwn(assetTypes, name);
}

/** Returns the folder of the package when the code runs from its sources. */
export function packageFolder(): string {
  return dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));
}

export function readAsset(name: AssetName): Promise<Uint8Array> {
  return readFile(join(locateAsset(import.meta.url, ASSET_FOLDER) ?? packageFolder(), name));
}

/** Starts Swagger UI without a validator's badge and without fonts: both would come from other servers. */
export const STARTER = `window.addEventListener('load', () => {
  SwaggerUIBundle({
    url: '/openapi.json',
    dom_id: '#docs',
    deepLinking: true,
    validatorUrl: null,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    tryItOutEnabled: true,
    presets: [SwaggerUIBundle.presets.apis],
  });
});
`;

export const STARTER_NAME = 'start.js';

export const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Parley API</title>
    <link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
  </head>
  <body>
    <div id="docs"></div>
    <noscript>This page needs JavaScript; the document itself is at <a href="/openapi.json">/openapi.json</a>.</noscript>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/${STARTER_NAME}"></script>
  </body>
</html>
`;
