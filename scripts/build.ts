/**
 * Bundles the `parley` command into `dist/`, or the folder that is named: one entry, one chunk for each role, so that a role loads only what it needs.
 * Packages with native parts or files of their own stay outside the bundle.
 */
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { build } from 'esbuild';

import { ASSET_FOLDER, assetTypes, packageFolder } from '../api/docs/assets.ts';
import { bundlePageScript, PAGE_SCRIPTS } from '../api/call-page/bundle.ts';
import { BUNDLE_CONTENTS, bundleContents } from './image/bundle-contents.ts';
import { PDF_ASSET_FOLDER, PDF_ASSETS, pdfPackageFolder } from '../knowledge/parsing/assets.ts';
import { megabytes } from '../platform/megabytes.ts';
import { bundleWorkflows, WORKFLOW_BUNDLE } from '../workflows/bundle.ts';
import { eagerPackages } from './eager-packages.ts';
import { namelessImports } from './nameless-imports.ts';

/** LiveKit's agent server loads these, which have native parts; the server itself is in the bundle: each call's process reads it. */
const LOADED_BY_LIVEKIT = ['@livekit/rtc-node', '@livekit/av', '@livekit/local-inference'];
/** The first text in a language of compounds loads this: its patterns are megabytes. */
const LOADED_BY_LANGUAGE = ['hyphen'];
/** Only its detector of hosts asks for the machine's id, and neither Parley nor LiveKit's server uses that one. */
const UNREACHED = /node_modules\/@opentelemetry\/resources\/.*\/getMachineId\.js$/;
/** The tokenizer takes 67 MB and half a second: a job process asks its role, and a search counts nothing. */
const later = { 'voice/job/entry.ts': ['gpt-tokenizer'], 'api/main.ts': ['gpt-tokenizer'] };
const outdir = process.argv[2] ?? 'dist';

await rm(outdir, { recursive: true, force: true });
const result = await build({
  // Code that runs in a process or thread of its own is an entry of its own; the parsers' formats are in chunks.
  entryPoints: {
    parley: 'cli/main.ts',
    'parser-process': 'knowledge/parsing/child/main.ts',
    'voice-job': 'voice/job/entry.ts',
    'recording-encoder': 'voice/recording/encoder/thread.ts',
    'embedding-process': 'knowledge/embedding/local-process.ts',
  },
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  outExtension: { '.js': '.mjs' },
  chunkNames: 'chunks/[name]-[hash]',
  external: ['@temporalio/*', ...LOADED_BY_LIVEKIT, 'fluent-ffmpeg', 'sharp', 'pg-native', 'esbuild'],
  // CommonJS packages inside an ES module bundle still call require() for Node's own modules.
  banner: {
    js: "import { createRequire as parleyCreateRequire } from 'node:module'; const require = parleyCreateRequire(import.meta.url);",
  },
  sourcemap: 'linked',
  legalComments: 'none',
  // V8 keeps a source for as long as its code, and comments are half of it.
  minifyWhitespace: true,
  lineLimit: 150,
  logLevel: 'warning',
  metafile: true,
});
const nameless = namelessImports(result.metafile, UNREACHED);
if (nameless.length > 0) {
  throw new Error(`put a module of your own, with a static import, between these, whose names the bundle loses:\n${nameless.join('\n')}`);
}
const eager = eagerPackages(result.metafile, later);
if (eager.length > 0) throw new Error(`import dynamically what is needed later, or part the module between:\n${eager.join('\n')}`);
// esbuild escapes non-ASCII characters in strings, and not in regular expressions. One of them makes V8 keep the chunk in two bytes a
// character.
const modules = Object.entries(result.metafile.outputs).filter(([file]) => file.endsWith('.mjs'));
for (const [file] of modules) {
  const code = await readFile(file, 'utf8');
  const escaped = code.replaceAll(/[^\0-\u00ff]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
  if (escaped !== code) await writeFile(file, escaped);
}
await cp('store/migrations', `${outdir}/migrations`, { recursive: true });
await cp('examples/recipes', `${outdir}/recipes`, { recursive: true });
for (const name of [...Object.keys(assetTypes), 'LICENSE', 'NOTICE'])
  await cp(join(packageFolder(), name), join(outdir, ASSET_FOLDER, name));
for (const name of PDF_ASSETS) await cp(join(pdfPackageFolder(), name), join(outdir, PDF_ASSET_FOLDER, name), { recursive: true });
for (const script of PAGE_SCRIPTS) await writeFile(`${outdir}/${script}`, await bundlePageScript(script));
await writeFile(`${outdir}/${WORKFLOW_BUNDLE}`, (await bundleWorkflows()).code);

await writeFile(
  `${outdir}/${BUNDLE_CONTENTS}`,
  JSON.stringify(bundleContents(result.metafile, [...LOADED_BY_LIVEKIT, ...LOADED_BY_LANGUAGE]), null, 1),
);

const bytes = modules.reduce((sum, [, output]) => sum + output.bytes, 0);
process.stdout.write(`built ${outdir}/parley.mjs (${megabytes(bytes)} with its chunks)\n`);
