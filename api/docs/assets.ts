/** Finds the files that `/docs` takes from Swagger UI's package. */
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { locateAsset } from '../../platform/assets.ts';

/** Folder next to the code in `dist/`, where the build copies the files that {@link assetTypes} names. */
export const ASSET_FOLDER = 'swagger-ui';

/** Content types of the files that are taken from the package. */
export const assetTypes = {
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui.css': 'text/css; charset=utf-8',
} as const;

export type AssetName = keyof typeof assetTypes;

/** Returns the folder of the package when the code runs from its sources. */
export function packageFolder(): string {
  return dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));
}

export function readAsset(name: AssetName): Promise<Uint8Array> {
  return readFile(join(locateAsset(import.meta.url, ASSET_FOLDER) ?? packageFolder(), name));
}
