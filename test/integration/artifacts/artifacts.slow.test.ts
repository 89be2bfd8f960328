/** Builds what is published of a version, without the image, which has suites of its own, and uses it as people do who have no checkout. */
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';

import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';

import { repositoryRoot } from '../../../local-stack/repository.ts';
import { anAgent } from '../../support/builders.ts';
import { suiteFolder } from '../../support/folders.ts';
import { organizationNamespace } from '../../support/namespace.ts';
import { run, type Finished } from '../../support/run.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { helm, needed, ofKind, parseManifests, roles } from '../charts/helm.ts';
import { condition, startPlugin } from '../kubectl-plugin/plugin.ts';

const version = '0.1.0';
const folder = suiteFolder();
const out = join(folder, 'out');
const root = `parley-${version}-${process.platform}-${process.arch}`;
const archive = `${root}.tar.gz`;
const bin = join(folder, root, 'bin');
const plugin = suiteFixture(startPlugin);

const build = (to: string): Promise<Finished> =>
  run(process.execPath, ['scripts/artifacts/main.ts', '--base-url', 'https://example.com/v1/', '--out', to, '--without-image'], {
    cwd: repositoryRoot(),
  });
/** Runs a program with these variables and no other: `env -i` begins with none. */
const alone = (env: Readonly<Record<string, string>>, program: string, ...args: readonly string[]): Promise<Finished> =>
  run('/usr/bin/env', ['-i', ...Object.entries(env).map(([name, value]) => `${name}=${value}`), program, ...args], { cwd: folder });

beforeAll(async () => {
  expect(await build(out)).toMatchObject({ code: 0, stderr: '' });
  expect(await run('tar', ['-xzf', join(out, archive)], { cwd: folder })).toMatchObject({ code: 0 });
});

describe('the artifacts', () => {
  it('have checksums, every one of them', async () => {
    const listed = (await readFile(join(out, 'SHA256SUMS'), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => line.split('  ')[1] ?? '');
    expect(['SHA256SUMS', ...listed].toSorted()).toEqual((await readdir(out)).toSorted());
    expect(listed).toEqual(expect.arrayContaining([archive, `parley-${version}.tgz`, `parley-${version}.chart.oci.tar`, 'parley.yaml']));
    const packages = [`parley-cli-${version}.tgz`, `parley-client-${version}.tgz`];
    const clients = [`parley_client-${version}-py3-none-any.whl`, `parley_client-${version}.tar.gz`];
    expect(listed).toEqual(expect.arrayContaining([...packages, ...clients]));
    expect(await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: out })).toMatchObject({ code: 0 });
  });

  it('are the same bytes when they are built again', async () => {
    const again = join(folder, 'again');
    expect(await build(again)).toMatchObject({ code: 0 });
    expect(await readFile(join(again, 'SHA256SUMS'), 'utf8')).toBe(await readFile(join(out, 'SHA256SUMS'), 'utf8'));
  });
});

describe('the charts', () => {
  it.each([
    ['parley', needed, roles.length],
    // With Postgres, Temporal, LiveKit and the robot.
    ['parley-demo', {}, roles.length + 4],
  ])('%s is there to install as it is and as an OCI archive', async (name, values, deployments) => {
    const file = join(out, `${name}-${version}.tgz`);
    const rendered = parseManifests(await helm(['template', name, file, '--kube-version', '1.34.4'], { values }));
    expect(ofKind(rendered, 'Deployment')).toHaveLength(deployments);
    const layout = join(folder, `${name}-layout`);
    await mkdir(layout);
    const oci = join(out, `${name}-${version}.chart.oci.tar`);
    expect(await run('tar', ['-xf', oci, '-C', layout])).toMatchObject({ code: 0 });
    const blob = (digest: string): Promise<Buffer> => readFile(join(layout, 'blobs', digest.replace(':', '/')));
    const { manifests } = JSON.parse(await readFile(join(layout, 'index.json'), 'utf8')) as { manifests: { digest: string }[] };
    const manifest = JSON.parse((await blob(manifests[0]?.digest ?? '')).toString()) as {
      config: { digest: string };
      layers: { digest: string; mediaType: string }[];
    };
    expect(JSON.parse((await blob(manifest.config.digest)).toString())).toMatchObject({ name, version });
    expect(manifest.layers.map(({ mediaType }) => mediaType)).toEqual(['application/vnd.cncf.helm.chart.content.v1.tar+gzip']);
    expect(await blob(manifest.layers[0]?.digest ?? '')).toEqual(await readFile(file));
  });
});

describe('the archive', () => {
  it('runs without Node.js, PATH and variables', async () => {
    expect(await alone({}, join(bin, 'parley'), '--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
    const nowhere = join(folder, 'nowhere');
    expect(await alone({ PATH: nowhere }, join(bin, 'kubectl-parley'), '--version')).toMatchObject({ code: 0, stdout: `${version}\n` });
    expect(await alone({ PATH: nowhere }, join(bin, 'parley'), '--help')).toMatchObject({ code: 0, stderr: '' });
    const example = join(folder, root, 'examples/agents-as-code');
    const tested = await alone({ PATH: nowhere }, join(bin, 'parley'), 'test', example, '--replay');
    expect(tested).toMatchObject({ code: 1, stdout: expect.stringContaining('there is no recording') });
  });

  it('starts the whole platform, and calls it', async () => {
    const { PATH = '', HOME = '', PARLEY_BINARY_MIRROR } = process.env;
    const env = { PATH, HOME, ...(PARLEY_BINARY_MIRROR !== undefined && { PARLEY_BINARY_MIRROR }) };
    const parley = (...args: readonly string[]): Promise<Finished> => alone(env, join(bin, 'parley'), ...args);
    try {
      const started = await parley('dev', '--detach');
      expect([started.code, started.stdout], started.stderr).toEqual([0, expect.stringMatching(/✓ a call to receptionist[^]*is up/)]);
      const shell = `eval "$(${join(bin, 'parley')} env)"; kubectl parley status; parley call receptionist --say hello`;
      expect(
        await run('/usr/bin/env', ['-i', ...Object.entries(env).map((pair) => pair.join('=')), 'bash', '-euc', shell], { cwd: folder }),
      ).toMatchObject({ code: 0, stdout: expect.stringContaining('receptionist') });
    } finally {
      expect(await parley('dev', 'stop')).toMatchObject({ code: 0 });
    }
  });

  it('has the licences that its parts ask for, and nothing under the GPL or LGPL', async () => {
    const text = (...path: readonly string[]): Promise<string> => readFile(join(folder, root, ...path), 'utf8');
    expect(await text('LICENSE')).toContain('Apache License');
    expect(await text('NOTICE')).toContain('LiveKit Model License');
    expect(await text('node_modules/node/LICENSE')).toMatch(/^Node\.js is licensed for use as follows:[^]*OpenSSL/);
    expect(await text('node_modules/@livekit/local-inference/MODEL_LICENSE')).toContain('LIVEKIT MODEL LICENSE');
    expect(await text('third-party-licences.txt')).toContain('fastify');
    const { components } = JSON.parse(await text('sbom.cdx.json')) as {
      readonly components: readonly {
        readonly name: string;
        readonly licenses?: readonly { readonly expression?: string; readonly license?: { readonly name: string } }[];
      }[];
    };
    expect(components.length).toBeGreaterThan(300);
    const copyleft = components.filter(({ licenses = [] }) => /GPL/.test(JSON.stringify(licenses)));
    expect(copyleft.map(({ name }) => name)).toEqual([]);
    expect(components.filter(({ licenses }) => licenses === undefined)).toEqual([]);
    expect((await readdir(join(folder, root, 'node_modules/@livekit'))).filter((name) => name.startsWith('av-'))).toEqual([]);
  });
});

describe('the npm package', () => {
  const installed = join(folder, 'npm/node_modules/@parley/cli');
  const programs = join(folder, 'npm/node_modules/.bin');

  beforeAll(async () => {
    const args = ['install', '--offline', '--prefix', join(folder, 'npm'), join(out, `parley-cli-${version}.tgz`)];
    expect(await run('npm', args, { cwd: folder })).toMatchObject({ code: 0 });
  });

  it('installs offline, and runs', async () => {
    const env = { PATH: [dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter) };
    expect(await alone(env, join(programs, 'parley'), '--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
    expect((await alone(env, join(programs, 'kubectl_complete-parley'), 'sta')).stdout).toMatch(/^status\t/);
    const begun = join(folder, 'begun');
    expect(await alone(env, join(programs, 'parley'), 'init', '--template', 'dentist', begun)).toMatchObject({ code: 0 });
    const tested = await alone(env, join(programs, 'parley'), 'test', begun, '--replay');
    expect([tested.code, tested.stdout]).toEqual([0, expect.stringMatching(/[1-9]\d* passed, 0 failed/)]);
  });

  it.each([
    ['dev', /needs the resource definitions .*\n {2}→ run it from the archive/],
    ['worker', /this needs the package @temporalio\/.*\n {2}→ run it from the archive/],
    ['voice', /this needs the package @livekit\/.*\n {2}→ run it from the archive/],
  ])('says what has what it leaves out: %s', async (command, cure) => {
    const env = { PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter), HOME: folder };
    const { code, stderr } = await alone(env, join(programs, 'parley'), command);
    expect([code, stderr]).toEqual([1, expect.stringMatching(cure)]);
  });

  it('has no tests, sources or maps', async () => {
    // The templates of `parley init` have tests of agents.
    const files = (await readdir(installed, { recursive: true })).filter((file) => !file.startsWith('dist/recipes/'));
    expect(files.filter((file) => /\.(ts|map)$|(^|\/)(tests?|node_modules|contents\.json)(\/|$)|\.test\./.test(file))).toEqual([]);
    const top = ['LICENSE', 'NOTICE', 'README.md', 'bin', 'dist', 'package.json', 'third-party-licences.txt'];
    expect((await readdir(installed)).toSorted()).toEqual(top);
  });
});

describe('the plugin for kubectl', () => {
  /** Runs kubectl with nothing of this repository on PATH. */
  const kubectl = (...args: readonly string[]): Promise<Finished> =>
    run('kubectl', args, {
      cwd: folder,
      env: { PATH: [bin, dirname(plugin.addresses.kubectl), '/usr/bin', '/bin'].join(delimiter), KUBECONFIG: plugin.addresses.kubeconfig },
    });

  it("has a manifest for krew with the archive's address and checksum", async () => {
    const manifest = parse(await readFile(join(out, 'parley.yaml'), 'utf8')) as {
      readonly metadata: { readonly name: string };
      readonly spec: { readonly version: string; readonly shortDescription: string; readonly platforms: readonly object[] };
    };
    expect([manifest.metadata.name, manifest.spec.version]).toEqual(['parley', `v${version}`]);
    expect(manifest.spec.shortDescription.length).toBeLessThanOrEqual(50);
    const sums = await readFile(join(out, 'SHA256SUMS'), 'utf8');
    expect(manifest.spec.platforms).toEqual([
      {
        selector: { matchLabels: { os: process.platform, arch: process.arch === 'x64' ? 'amd64' : process.arch } },
        uri: `https://example.com/v1/${archive}`,
        sha256: new RegExp(`^([0-9a-f]{64})  ${archive}$`, 'm').exec(sums)?.[1],
        files: [{ from: `${root}/*`, to: '.' }],
        bin: 'bin/kubectl-parley',
      },
    ]);
    // Krew unpacks no links.
    const listed = await run('tar', ['-tvzf', join(out, archive)]);
    expect(listed.stdout.split('\n').filter((line) => !/^(-|$)/.test(line))).toEqual([]);
  });

  it('is found by kubectl, runs by itself, and completes what is typed', async () => {
    const list = await kubectl('plugin', 'list');
    expect(list).toMatchObject({ code: 0, stdout: expect.stringContaining(join(bin, 'kubectl-parley')) });
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
