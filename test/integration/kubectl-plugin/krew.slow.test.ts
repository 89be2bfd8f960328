import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';

import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';

import { anAgent } from '../../support/builders.ts';
import { organizationNamespace } from '../../support/namespace.ts';
import { run, type Finished } from '../../support/run.ts';
import { repository } from '../../support/stack.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { condition, startPlugin } from './plugin.ts';

interface Manifest {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly version: string;
    readonly shortDescription: string;
    readonly platforms: readonly { readonly selector: object; readonly uri: string; readonly sha256: string; readonly bin: string }[];
  };
}

const plugin = suiteFixture(startPlugin);
let out: string;
let installed: string;
let manifest: Manifest;

const platform = `${process.platform}_${process.arch === 'x64' ? 'amd64' : process.arch}`;
const version = '0.1.0';

beforeAll(async () => {
  [out, installed] = [join(plugin.folder, 'krew'), join(plugin.folder, 'installed')];
  const args = ['scripts/krew.ts', '--base-url', 'https://example.com/releases/', '--out', out, '--without-node'];
  expect(await run(process.execPath, args, { cwd: repository })).toMatchObject({ code: 0, stderr: '' });
  manifest = parse(await readFile(join(out, 'parley.yaml'), 'utf8')) as Manifest;
  await mkdir(installed);
  expect(await run('tar', ['-xzf', join(out, archiveOf(manifest)), '-C', installed])).toMatchObject({ code: 0 });
});

function archiveOf({ spec }: Manifest): string {
  return spec.platforms[0]?.uri.split('/').at(-1) ?? '';
}

/** Runs kubectl with nothing of this repository on PATH. */
function kubectl(...args: readonly string[]): Promise<Finished> {
  const path = [installed, dirname(plugin.addresses.kubectl), dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter);
  return run('kubectl', args, { cwd: installed, env: { PATH: path, KUBECONFIG: plugin.addresses.kubeconfig } });
}

describe('the archive for krew', () => {
  it('has a manifest with its checksum, and no other', async () => {
    expect(manifest.metadata.name).toBe('parley');
    expect(manifest.spec.shortDescription.length).toBeLessThanOrEqual(50);
    const archive = await readFile(join(out, archiveOf(manifest)));
    expect(manifest.spec.platforms).toEqual([
      {
        selector: expect.anything(),
        uri: `https://example.com/releases/kubectl-parley_v${version}_${platform}.tar.gz`,
        sha256: createHash('sha256').update(archive).digest('hex'),
        bin: 'kubectl-parley',
      },
    ]);
    expect(await readFile(join(out, 'parley.yaml'), 'utf8')).not.toContain('${');
    // The manifest in the repository claims no checksum.
    expect(await readFile(join(repository, 'examples/krew/parley.yaml'), 'utf8')).not.toMatch(/sha256: ['"]?[0-9a-f]{64}/);
  });

  it('is found by kubectl, runs by itself, and completes what is typed', async () => {
    const list = await kubectl('plugin', 'list');
    expect(list).toMatchObject({ code: 0, stdout: expect.stringContaining(join(installed, 'kubectl-parley')) });
    expect((await kubectl('parley', '--version')).stdout).toBe(`${version}\n`);

    const org = await organizationNamespace('krew');
    await plugin.put(anAgent('reception', org));
    const candidates = async (...words: readonly string[]): Promise<readonly string[]> =>
      (await kubectl('__complete', 'parley', ...words)).stdout.split('\n').map((line) => line.split('\t')[0] ?? '');
    expect(await candidates('')).toEqual(expect.arrayContaining(['status', 'explain', 'logs', 'calls', 'report']));
    expect(await candidates('explain', '-n', org, 'agent/')).toContain('agent/reception');
    expect(await candidates('logs', '-n', org, '')).toContain('reception');
    expect(await candidates('status', '-o', '')).toEqual(expect.arrayContaining(['json', 'yaml', 'wide']));
    expect(await candidates('status', '--namespace', org.slice(0, 6))).toContain(org);
    expect(await candidates('status', '--cont')).toContain('--context');
    expect(await candidates('status', '--context', '')).toContain('parley');
  });

  it('lets nothing that others have written reach the terminal as it is', async () => {
    const org = await organizationNamespace('krew');
    const conditions = [condition('Ready', 'False', 'SecretNotFound', '\u001B[2Jgone')];
    await plugin.put({ ...anAgent('reception', org), status: { observedGeneration: 1, conditions } });
    expect((await kubectl('parley', 'status', '-n', org)).stdout).toContain(String.raw`SecretNotFound: \u001b[2Jgone`);
  });
});
