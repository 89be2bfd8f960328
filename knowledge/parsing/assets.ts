/** Files that pdf.js reads while it works: maps of character codes and the fonts that every viewer has. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { locateAsset } from '../../platform/assets.ts';

/** Next to the code in `dist/`, where the build copies {@link pdfAssets}. */
export const PDF_ASSET_FOLDER = 'pdfjs';

export const PDF_ASSETS = ['cmaps', 'standard_fonts', 'LICENSE'] as const;

/** Where the package lies when the code runs from its sources. */
export function pdfPackageFolder(): string {
  return dirname(fileURLToPath(import.meta.resolve('pdfjs-dist/package.json')));
}

/** Ends with a slash, as pdf.js wants it. */
export function pdfAsset(name: (typeof PDF_ASSETS)[number]): string {
  return join(locateAsset(import.meta.url, PDF_ASSET_FOLDER) ?? pdfPackageFolder(), name, '/');
}

/** What a child from sources has to read in addition to the code. */
export function assetFolders(): readonly string[] {
  return [pdfPackageFolder()];
}
