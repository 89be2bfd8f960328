/** Tests what `make release` builds, without the image, which has suites of its own. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';

import { repositoryRoot } from '../../../local-stack/repository.ts';
import { suiteFolder } from '../../support/folders.ts';
import { run } from '../../support/run.ts';
import { helm, needed, ofKind, parseManifests, roles } from './helm.ts';

const version = '0.1.0';
const out = suiteFolder();

beforeAll(async () => {
  const args = ['scripts/release/main.ts', '--base-url', 'https://example.com/v1/', '--out', out, '--without-image'];
  expect(await run(process.execPath, args, { cwd: repositoryRoot() })).toMatchObject({ code: 0 });
});

it('has checksums of every file', async () => {
  const listed = (await readFile(join(out, 'SHA256SUMS'), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => line.split('  ')[1] ?? '');
  expect(['SHA256SUMS', ...listed].toSorted()).toEqual((await readdir(out)).toSorted());
  expect(listed).toEqual(expect.arrayContaining([`parley-${version}.tgz`, `parley-${version}.chart.oci.tar`, 'parley.yaml']));
  const clients = [`parley-client-${version}.tgz`, `parley_client-${version}-py3-none-any.whl`, `parley_client-${version}.tar.gz`];
  expect(listed).toEqual(expect.arrayContaining(clients));
  expect(await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: out })).toMatchObject({ code: 0 });
});

it('has a manifest for krew with the real checksum of the archive', async () => {
  const { spec } = parse(await readFile(join(out, 'parley.yaml'), 'utf8')) as { spec: { platforms: { uri: string; sha256: string }[] } };
  const sums = await readFile(join(out, 'SHA256SUMS'), 'utf8');
  expect(spec.platforms).toHaveLength(1);
  for (const { uri, sha256 } of spec.platforms) expect(sums).toContain(`${sha256}  ${uri.replace('https://example.com/v1/', '')}\n`);
});

it('has the chart, to install as it is and as an OCI archive', async () => {
  const archive = join(out, `parley-${version}.tgz`);
  const rendered = parseManifests(await helm(['template', 'parley', archive, '--kube-version', '1.34.4'], { values: needed }));
  expect(ofKind(rendered, 'Deployment')).toHaveLength(roles.length);
  const layout = join(out, 'layout');
  expect(
    await run('bash', [
      '-ec',
      'mkdir "$1"; tar --extract --file "$2" --directory "$1"',
      '-',
      layout,
      join(out, `parley-${version}.chart.oci.tar`),
    ]),
  ).toMatchObject({ code: 0 });
  const blob = (digest: string): Promise<Buffer> => readFile(join(layout, 'blobs', digest.replace(':', '/')));
  const { manifests } = JSON.parse(await readFile(join(layout, 'index.json'), 'utf8')) as { manifests: { digest: string }[] };
  const manifest = JSON.parse((await blob(manifests[0]?.digest ?? '')).toString()) as {
    config: { digest: string };
    layers: { digest: string; mediaType: string }[];
  };
  expect(JSON.parse((await blob(manifest.config.digest)).toString())).toMatchObject({ name: 'parley', version });
  expect(manifest.layers.map(({ mediaType }) => mediaType)).toEqual(['application/vnd.cncf.helm.chart.content.v1.tar+gzip']);
  expect(await blob(manifest.layers[0]?.digest ?? '')).toEqual(await readFile(archive));
});
