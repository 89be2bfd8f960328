/**
 * Builds what krew installs: an archive of the plugin for each platform, with the Node.js that runs it, and the manifest with the
 * archives' checksums.
 *   node scripts/krew.ts --base-url <address of the archives> [--homepage <url>] [--out build/krew] [--node <os>/<arch>=<program>]...
 * Without --node the archive is for this platform, with this very Node.js. With --without-node the archives have none, and need
 * Node.js 24 on PATH.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';

import { build } from 'esbuild';
import { parse, stringify } from 'yaml';

import { tar, type TarEntry } from '../cli/kubectl/report/tar.ts';
import { bundleContents } from './image/bundle-contents.ts';
import { licenceTexts } from './image/licences.ts';
import { megabytes } from '../platform/megabytes.ts';

interface Manifest {
  readonly spec: {
    readonly platforms: readonly {
      readonly selector: { readonly matchLabels: { readonly os: string; readonly arch: string } };
      readonly uri: string;
      readonly sha256: string;
    }[];
  };
}

const { values } = parseArgs({
  options: {
    'base-url': { type: 'string' },
    homepage: { type: 'string' },
    out: { type: 'string', default: 'build/krew' },
    node: { type: 'string', multiple: true },
    'without-node': { type: 'boolean', default: false },
  },
});
const { 'base-url': baseUrl } = values;
if (baseUrl === undefined || !URL.canParse(baseUrl)) {
  throw new Error('--base-url is needed: the address of the folder in which the archives will be, such as https://example.com/releases/v1');
}
const root = resolve(import.meta.dirname, '..');
const out = resolve(root, values.out);
const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
/** WebSockets, and Postgres for `--store`, are a little faster with these. */
const optional: ReadonlySet<string> = new Set(['bufferutil', 'utf-8-validate', 'pg-native']);
const epoch = Number(process.env['SOURCE_DATE_EPOCH'] ?? 0);

await mkdir(out, { recursive: true });
const plugin = await pluginFiles();
const checksums = new Map<string, string>();
for (const { platform, node } of platforms()) {
  const name = `kubectl-parley_v${version}_${platform.replace('/', '_')}.tar.gz`;
  const entries = [...plugin, ...(values['without-node'] ? [] : await nodeFiles(node))];
  const archive = gzipSync(tar(entries, epoch), { level: 9 });
  await writeFile(join(out, name), archive);
  checksums.set(platform, createHash('sha256').update(archive).digest('hex'));
  process.stdout.write(`${name}  ${megabytes(archive.length)}  sha256 ${checksums.get(platform) ?? ''}\n`);
}
await writeFile(join(out, 'parley.yaml'), await manifest());
process.stdout.write(`${join(values.out, 'parley.yaml')} has ${checksums.size} platform${checksums.size === 1 ? '' : 's'}\n`);

function platforms(): readonly { readonly platform: string; readonly node: string }[] {
  const here = `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`;
  return (values.node ?? [`${here}=${process.execPath}`]).map((text) => {
    const [platform = '', node = ''] = text.split('=');
    if (/^(linux|darwin)\/(amd64|arm64)$/.test(platform) && node !== '') return { platform, node };
    throw new Error(`--node ${text}: write <os>/<arch>=<program>, such as linux/arm64=./node; os: linux, darwin; arch: amd64, arm64`);
  });
}

async function pluginFiles(): Promise<readonly TarEntry[]> {
  const result = await build({
    stdin: {
      contents: `import { runPlugin } from './cli/kubectl/main.ts';
import { prepareStandardStreams } from './cli/standard-streams.ts';
prepareStandardStreams();
await runPlugin(process.argv.slice(2));
`,
      resolveDir: root,
      loader: 'ts',
    },
    absWorkingDir: root,
    outfile: join(out, 'plugin.mjs'),
    write: false,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    banner: {
      js: "import { createRequire as parleyCreateRequire } from 'node:module'; const require = parleyCreateRequire(import.meta.url);",
    },
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
  });
  const [bundle] = result.outputFiles;
  if (bundle === undefined) throw new Error('esbuild has written no bundle');
  const contents = bundleContents(result.metafile, []);
  const inputs = Object.keys(result.metafile.inputs);
  const bundled = contents.bundled.filter((folder) => inputs.some((input) => input.startsWith(`${folder}/`)));
  const external = contents.external.filter((name) => !optional.has(name));
  if (external.length > 0) throw new Error(`the plugin would need packages outside its bundle: ${external.join(', ')}`);
  return [
    { path: 'kubectl-parley', content: Buffer.from(launcher('')), mode: 0o755 },
    { path: 'kubectl_complete-parley', content: Buffer.from(launcher(' __complete')), mode: 0o755 },
    { path: 'plugin.mjs', content: bundle.contents, mode: 0o644 },
    { path: 'LICENSE', content: await readFile(join(root, 'LICENSE')), mode: 0o644 },
    { path: 'NOTICE', content: await readFile(join(root, 'NOTICE')), mode: 0o644 },
    { path: 'third-party-licences.txt', content: Buffer.from(await licenceTexts({ root, folders: bundled })), mode: 0o644 },
  ];
}

/** Adds the licence of Node.js, which lies next to its program's folder, as in its own archives. */
async function nodeFiles(node: string): Promise<readonly TarEntry[]> {
  const licence = await readFile(join(dirname(dirname(resolve(node))), 'LICENSE')).catch(() => undefined);
  return [
    { path: 'node', content: await readFile(node), mode: 0o755 },
    ...(licence === undefined ? [] : [{ path: 'node-licence.txt', content: licence, mode: 0o644 }]),
  ];
}

function launcher(args: string): string {
  return `#!/bin/sh
set -eu
self=$0
while [ -L "$self" ]; do
  link=$(readlink "$self")
  case $link in /*) self=$link ;; *) self=$(dirname "$self")/$link ;; esac
done
here=$(cd "$(dirname "$self")" && pwd -P)
node=$here/node
if [ ! -x "$node" ]; then
  node=$(command -v node || true)
  major=$([ -n "$node" ] && "$node" -p 'process.versions.node.split(".")[0]' || echo 0)
  if [ "$major" -lt 24 ]; then
    echo "kubectl parley: Node.js 24 or newer is needed on PATH" >&2
    exit 1
  fi
fi
exec "$node" "$here/plugin.mjs"${args} "$@"
`;
}

/** Fills the template with what was built and nothing else. */
async function manifest(): Promise<string> {
  const names = { VERSION: version, BASE_URL: baseUrl?.replace(/\/+$/, '') ?? '', HOMEPAGE: values.homepage ?? baseUrl ?? '' };
  const sums = [...checksums].map(([platform, sum]) => [`SHA256_${platform.replace('/', '_').toUpperCase()}`, sum] as const);
  const known: Readonly<Record<string, string>> = { ...names, ...Object.fromEntries(sums) };
  const template = await readFile(join(root, 'examples/krew/parley.yaml'), 'utf8');
  const filled = parse(template.replaceAll(/\$\{(\w+)\}/g, (whole, name: string) => known[name] ?? whole)) as Manifest;
  const built = filled.spec.platforms.filter(({ selector: { matchLabels } }) => checksums.has(`${matchLabels.os}/${matchLabels.arch}`));
  return stringify({ ...filled, spec: { ...filled.spec, platforms: built } }, { lineWidth: 0 });
}
