/** Locates PDFium's code, which the parser of PDFs reads when the first one comes. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { locateAsset } from '../../platform/assets.ts';

/** The build copies {@link PDF_ASSETS} into this folder, next to the code in `dist/`. */
export const PDF_ASSET_FOLDER = 'pdfium';

const MODULE = 'dist/pdfium.wasm';
/** The last one is the licence of PDFium itself. */
export const PDF_ASSETS = [MODULE, 'LICENSE', 'LICENSE.pdfium'] as const;

/** Returns the package's folder when the code runs from its sources. */
export function pdfPackageFolder(): string {
  return join(dirname(fileURLToPath(import.meta.resolve('@embedpdf/pdfium/pdfium.wasm'))), '..');
}

/** Returns the path of the file with PDFium's code. */
export function pdfAsset(): string {
  return join(locateAsset(import.meta.url, PDF_ASSET_FOLDER) ?? pdfPackageFolder(), MODULE);
}

/** Returns the folders that a child from sources has to read in addition to the code. */
export function assetFolders(): readonly string[] {
  return [pdfPackageFolder()];
}
