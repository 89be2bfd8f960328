/**
 * Builds everything that a release consists of into one folder, with checksums:
 *   node scripts/release/main.ts --base-url <address of the files> [--homepage <url>] [--out build/release] [--without-image] [--node <os>/<arch>=<program>]...
 * The image, its bill of materials, the chart (for `helm install` and as an OCI archive), the plugin and its manifest for krew, and the clients.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parseArgs, promisify } from 'node:util';

import { parse } from 'yaml';

import { describeProgress } from '../../local-stack/binaries/progress.ts';
import { resolveBinary } from '../../local-stack/binaries/resolve.ts';
import { binarySpec } from '../../local-stack/programs.ts';
import { type ChartFacts, ociChart } from './oci-chart.ts';
import { buildPythonClient } from './python-client.ts';
import { packTypescriptClient } from './typescript-client.ts';

const run = promisify(execFile);
const { values } = parseArgs({
  options: {
    'base-url': { type: 'string' },
    homepage: { type: 'string' },
    out: { type: 'string', default: 'build/release' },
    'without-image': { type: 'boolean', default: false },
    node: { type: 'string', multiple: true },
  },
});
const { 'base-url': baseUrl } = values;
if (baseUrl === undefined || !URL.canParse(baseUrl)) {
  throw new Error('--base-url is needed: the address of the folder in which the files will be, such as https://example.com/releases/v1');
}
const root = resolve(import.meta.dirname, '../..');
const out = resolve(root, values.out);
const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
const epoch = Number(process.env['SOURCE_DATE_EPOCH'] ?? 0);

await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
if (!values['without-image']) await image();
await chart();
await plugin();
await clients();
await checksums();

/** Runs a script of this repository, and shows what it says. */
async function script(path: string, args: readonly string[]): Promise<void> {
  const { stdout, stderr } = await run(process.execPath, [path, ...args], { cwd: root, maxBuffer: 16 * 1024 * 1024 });
  process.stdout.write(stdout);
  process.stderr.write(stderr);
}

async function image(): Promise<void> {
  const built = join(root, 'build/image');
  await script('scripts/image/main.ts', ['--out', built, '--tag', version, '--locked']);
  await copyFile(join(built, 'parley.tar'), join(out, `parley-${version}.image.tar`));
  await copyFile(join(built, 'sbom.cdx.json'), join(out, `parley-${version}.sbom.cdx.json`));
}

async function chart(): Promise<void> {
  const folder = join(root, 'charts/parley');
  const facts = parse(await readFile(join(folder, 'Chart.yaml'), 'utf8')) as ChartFacts;
  if (facts.version !== version || facts['appVersion'] !== version)
    throw new Error(
      `charts/parley/Chart.yaml is of version ${facts.version}, package.json of ${version}: give both the version of the release`,
    );
  const { path: helm } = await resolveBinary({
    spec: binarySpec('helm'),
    env: process.env,
    onProgress: (progress) => process.stderr.write(`helm: ${describeProgress(progress)}\n`),
  });
  await run(helm, ['package', folder, '--destination', out]);
  const { archive, digest } = ociChart(facts, await readFile(join(out, `parley-${version}.tgz`)), epoch);
  await writeFile(join(out, `parley-${version}.chart.oci.tar`), archive);
  process.stdout.write(`chart   parley-${version}.tgz, and as an OCI archive with digest ${digest}\n`);
}

async function plugin(): Promise<void> {
  const optional = [
    ...(values.homepage === undefined ? [] : ['--homepage', values.homepage]),
    ...(values.node ?? []).flatMap((node) => ['--node', node]),
  ];
  await script('scripts/krew.ts', ['--base-url', baseUrl ?? '', '--out', out, ...optional]);
}

async function clients(): Promise<void> {
  const archives = [await packTypescriptClient(version, out), ...(await buildPythonClient(version, out))];
  process.stdout.write(`clients ${archives.join(', ')}\n`);
}

/** Writes the checksums in the form of `sha256sum --check`. */
async function checksums(): Promise<void> {
  const lines: string[] = [];
  for (const name of (await readdir(out)).toSorted()) {
    const hash = createHash('sha256');
    await pipeline(createReadStream(join(out, name)), hash);
    lines.push(`${hash.digest('hex')}  ${name}\n`);
  }
  await writeFile(join(out, 'SHA256SUMS'), lines.join(''));
  process.stdout.write(`${lines.length} files in ${values.out}, with SHA256SUMS\n`);
}
