/** Bundles the scripts of the pages, LiveKit's client in that of calls: in the build, or from sources at their first use. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

import { locateAsset } from '../../platform/assets.ts';

/** The sources of each script, by its name in `dist/` and on its page. */
const scripts = {
  'call-page.js': new URL('./browser/talk/main.ts', import.meta.url),
  'calls-page.js': new URL('./browser/history/main.ts', import.meta.url),
  'listen.js': new URL('./browser/history/listen.ts', import.meta.url),
  'docs-page.js': new URL('./browser/docs/main.ts', import.meta.url),
} as const;

export type PageScript = keyof typeof scripts;

export const PAGE_SCRIPTS = Object.keys(scripts) as readonly PageScript[];

/** WebRTC works well in these browsers and newer ones only. */
const target = ['chrome110', 'firefox115', 'safari16.4'];

/** Bundles the sources (less than a second). The build writes the answer to `dist/` under the script's name. */
export async function bundlePageScript(script: PageScript): Promise<string> {
  // esbuild is there only where the sources are.
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(scripts[script])],
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

/** Returns the script that the build made where there is one, else a new one. */
export function pageScript(script: PageScript): Promise<string> {
  const built = locateAsset(import.meta.url, script);
  return built === undefined ? bundlePageScript(script) : readFile(built, 'utf8');
}
