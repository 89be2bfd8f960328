/**
 * Builds what is published of a version into one folder, with checksums:
 *   node scripts/artifacts/main.ts --base-url <address of the files> [--homepage <url>] [--out build/artifacts] [--without-image] [--archives <folder>]
 *   node scripts/artifacts/main.ts --only-archive [--out build/artifacts]
 * The image and its bill of materials, the archive and the npm package of the command line, the manifest by which krew installs its plugin
 * for kubectl, the charts (for `helm install` and as OCI archives), and the clients. The archive is for the platform that builds it:
 * --archives names a folder with those that other platforms have built.
 */
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';

import { parse } from 'yaml';

import { describeProgress } from '../../local-stack/binaries/progress.ts';
import { resolveBinary } from '../../local-stack/binaries/resolve.ts';
import { binarySpec } from '../../local-stack/programs.ts';
import { megabytes } from '../../platform/megabytes.ts';
import type { RuntimePlatform } from '../image/runtime-packages.ts';
import { stage } from '../image/stage.ts';
import { sourceDateEpoch } from '../source-date-epoch.ts';
import { buildArchive, findArchives, sha256Of } from './archive.ts';
import { krewManifest } from './krew-manifest.ts';
import { packCommandLine } from './npm-package.ts';
import { type ChartFacts, ociChart } from './oci-chart.ts';
import { buildPythonClient } from './python-client.ts';
import { filesBelow, writeTarGz } from './tar-gz.ts';
import { packTypescriptClient } from './typescript-client.ts';

const run = promisify(execFile);
const { values } = parseArgs({
  options: {
    'base-url': { type: 'string' },
    homepage: { type: 'string' },
    out: { type: 'string', default: 'build/artifacts' },
    'without-image': { type: 'boolean', default: false },
    'only-archive': { type: 'boolean', default: false },
    archives: { type: 'string' },
  },
});
const root = resolve(import.meta.dirname, '../..');
const out = resolve(root, values.out);
const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
const epoch = await sourceDateEpoch(root);
// The tools of Python that build the client read it.
process.env['SOURCE_DATE_EPOCH'] = `${epoch}`;
const platform = platformHere();
const baseUrl = checkedBaseUrl();

await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
if (!values['only-archive'] && !values['without-image']) await image();
await commandLine();
if (baseUrl !== undefined) {
  await plugin(baseUrl);
  for (const name of ['parley', 'parley-demo']) await chart(name);
  await clients();
}
await checksums();

function platformHere(): RuntimePlatform {
  const { platform: os, arch: cpu } = process;
  if ((os === 'linux' || os === 'darwin') && (cpu === 'x64' || cpu === 'arm64')) return { os, cpu };
  throw new Error(`an archive is for Linux or macOS on x64 or arm64, and this is ${os}-${cpu}`);
}

/** @returns undefined where only the archive is built: it doesn't have the address in it */
function checkedBaseUrl(): string | undefined {
  const url = values['base-url'];
  if (values['only-archive']) return undefined;
  if (url === undefined || !URL.canParse(url))
    throw new Error(
      '--base-url is needed: the address of the folder in which the files will be, such as https://example.com/parley/v0.1.0',
    );
  return url;
}

async function image(): Promise<void> {
  const built = join(root, 'build/image');
  const args = ['scripts/image/main.ts', '--out', built, '--tag', version, '--locked'];
  const { stdout, stderr } = await run(process.execPath, args, { cwd: root, maxBuffer: 16 * 1024 * 1024 });
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  await copyFile(join(built, 'parley.tar'), join(out, `parley-${version}.image.tar`));
  await copyFile(join(built, 'sbom.cdx.json'), join(out, `parley-${version}.sbom.cdx.json`));
}

async function inTemporaryFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-artifacts-'));
  try {
    await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function commandLine(): Promise<void> {
  await inTemporaryFolder(async (work) => {
    const staged = await stage({ root, out: work, platform });
    const { name } = await buildArchive({ root, out, version, platform, staged, epoch });
    process.stdout.write(`archive ${name}  ${megabytes((await stat(join(out, name))).size)}\n`);
    if (!values['only-archive']) process.stdout.write(`npm     ${await packCommandLine({ root, out, staged })}\n`);
  });
}

async function plugin(address: string): Promise<void> {
  if (values.archives !== undefined) {
    for (const { name } of await findArchives(resolve(values.archives), version)) {
      if ((await stat(join(out, name)).catch(() => undefined)) === undefined)
        await copyFile(join(resolve(values.archives), name), join(out, name));
    }
  }
  const archives = await findArchives(out, version);
  const template = await readFile(join(import.meta.dirname, 'krew.yaml'), 'utf8');
  const manifest = krewManifest({ template, version, baseUrl: address, homepage: values.homepage ?? address, archives });
  await writeFile(join(out, 'parley.yaml'), manifest);
  process.stdout.write(`krew    parley.yaml for ${archives.map(({ platform: { os, cpu } }) => `${os}-${cpu}`).join(', ')}\n`);
}

async function chart(name: string): Promise<void> {
  const folder = join(root, 'charts', name);
  const facts = parse(await readFile(join(folder, 'Chart.yaml'), 'utf8')) as ChartFacts;
  if (facts.version !== version || facts['appVersion'] !== version)
    throw new Error(`charts/${name}/Chart.yaml is of version ${facts.version}, package.json of ${version}: give both the same version`);
  const { path: helm } = await resolveBinary({
    spec: binarySpec('helm'),
    env: process.env,
    onProgress: (progress) => process.stderr.write(`helm: ${describeProgress(progress)}\n`),
  });
  await inTemporaryFolder(async (work) => {
    await run(helm, ['package', folder, '--destination', work]);
    await run('tar', ['-xzf', join(work, `${name}-${version}.tgz`), '-C', work]);
    // Helm gives the files the time of now.
    const files = new Map(await filesBelow(join(work, name)));
    await writeTarGz({ to: join(out, `${name}-${version}.tgz`), folder: name, files, epoch });
  });
  const { archive, digest } = ociChart(facts, await readFile(join(out, `${name}-${version}.tgz`)), epoch);
  await writeFile(join(out, `${name}-${version}.chart.oci.tar`), archive);
  process.stdout.write(`chart   ${name}-${version}.tgz, and as an OCI archive with digest ${digest}\n`);
}

async function clients(): Promise<void> {
  const archives = [await packTypescriptClient(version, out), ...(await buildPythonClient(version, out))];
  process.stdout.write(`clients ${archives.join(', ')}\n`);
}

/** Writes the checksums in the form of `sha256sum --check`. */
async function checksums(): Promise<void> {
  const lines: string[] = [];
  for (const name of (await readdir(out)).toSorted()) lines.push(`${await sha256Of(join(out, name))}  ${name}\n`);
  await writeFile(join(out, 'SHA256SUMS'), lines.join(''));
  process.stdout.write(`${lines.length} files in ${values.out}, with SHA256SUMS\n`);
}
