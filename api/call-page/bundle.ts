/** The script of the page, with LiveKit's client in it. Made by the build; from sources when it is first asked for. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

import { locateAsset } from '../../platform/assets.ts';

/** Name of the script, in `dist/` and on the page. */
export const CALL_PAGE_SCRIPT = 'call-page.js';

/** The browsers that WebRTC works well in anyway. */
const target = ['chrome110', 'firefox115', 'safari16.4'];

/** Bundles the sources (less than a second). The build writes the answer to `dist/` under {@link CALL_PAGE_SCRIPT}. */
export async function bundleCallPage(): Promise<string> {
  // Only there where the sources are.
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('./browser/main.ts', import.meta.url))],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target,
    write: false,
    legalComments: 'inline',
    logLevel: 'warning',
  });
  return outputFiles[0]?.text ?? '';
}

/** The script that the build made where there is one, else a new one. */
export function callPageScript(): Promise<string> {
  const built = locateAsset(import.meta.url, CALL_PAGE_SCRIPT);
  return built === undefined ? bundleCallPage() : readFile(built, 'utf8');
}
