/** Lists the packages that a bundle contains, and those that it expects next to it, for an image and its bill of materials. */
import { isBuiltin } from 'node:module';

import type { Metafile } from 'esbuild';

/** Name of the file inside `dist/`. */
export const BUNDLE_CONTENTS = 'contents.json';

export interface BundleContents {
  /** Folders of the packages whose code is in the bundle, as in package-lock.json: `node_modules/pg`. */
  readonly bundled: readonly string[];
  /** Names of the packages that are imported at run time. */
  readonly external: readonly string[];
}

/** These are served as files or bundled on their own (the call page, the workflows), so that esbuild's first pass doesn't see them. */
const served = ['node_modules/livekit-client', 'node_modules/@embedpdf/pdfium', 'node_modules/swagger-ui-dist'];

/** @param loaded packages that are loaded in a way that esbuild doesn't see */
export function bundleContents(metafile: Metafile, loaded: readonly string[]): BundleContents {
  const bundled = new Set(served);
  const external = new Set(loaded);
  for (const [file, { imports }] of Object.entries(metafile.inputs)) {
    const folder = packageFolderOf(file);
    if (folder !== undefined) bundled.add(folder);
    for (const { path, external: outside } of imports) {
      if (outside === true && !isBuiltin(path)) external.add(packageNameOf(path));
    }
  }
  return { bundled: [...bundled].sort(), external: [...external].sort() };
}

/** Turns `node_modules/a/node_modules/@b/c/lib/x.js` into `node_modules/a/node_modules/@b/c`. */
function packageFolderOf(file: string): string | undefined {
  return /^(?:.*\/)?(node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1];
}

/** Turns `@temporalio/worker/lib/x` into `@temporalio/worker`. */
function packageNameOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
