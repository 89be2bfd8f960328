import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { execFileSync } from 'node:child_process';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { testFolder } from '../../test/support/folders.ts';
import { Servers, startEndpoint } from '../../test/support/http-servers.ts';
import { binarySpec } from '../programs.ts';
import type { BinarySpec } from './binary-spec.ts';
import type { BinaryProgress } from './progress.ts';
import { resolveBinary, type ResolveBinaryOptions } from './resolve.ts';

const platform = 'linux-amd64';
let folder: string;
const servers = new Servers();

beforeEach(() => void (folder = testFolder()));
afterEach(() => servers.stop());

function script(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** Returns etcd without any source on the network. */
const offline = (): BinarySpec => {
  const { official: _, go: __, ...rest } = binarySpec('etcd');
  return rest;
};

function options(spec: BinarySpec, env: NodeJS.ProcessEnv = {}, more: Partial<ResolveBinaryOptions> = {}): ResolveBinaryOptions {
  return {
    spec,
    env: { PATH: '/usr/bin:/bin', ...env },
    cache: join(folder, 'cache'),
    platform,
    modules: join(folder, 'modules'),
    ...more,
  };
}

async function serve(files: Readonly<Record<string, Buffer>>): Promise<string> {
  const { url } = await startEndpoint(servers, (response, request) => {
    const file = files[request.url];
    response.writeHead(file === undefined ? 404 : 200).end(file);
  });
  return url;
}

const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

function mirrorFiles(content: string, damage = false): Readonly<Record<string, Buffer>> {
  const packed = zstdCompressSync(Buffer.from(content));
  const name = 'etcd-3.6.4-linux-amd64.zst';
  return { [`/${name}`]: packed, '/SHA256SUMS': Buffer.from(`${sha256(damage ? Buffer.from('other') : packed)}  ${name}\n`) };
}

function mirrorFolder(content: string, damage = false): string {
  const mirror = join(folder, 'mirror');
  mkdirSync(mirror);
  for (const [name, bytes] of Object.entries(mirrorFiles(content, damage))) writeFileSync(join(mirror, name), bytes);
  return mirror;
}

describe('PATH and KUBEBUILDER_ASSETS', () => {
  it('takes an executable of the right version, the assets first', async () => {
    const assets = script(join(folder, 'assets/etcd'), 'echo "etcd Version: 3.6.9"');
    script(join(folder, 'path/etcd'), 'echo "etcd Version: 3.6.4"');
    const found = await resolveBinary(options(offline(), { KUBEBUILDER_ASSETS: join(folder, 'assets'), PATH: `${folder}/path:/bin` }));
    expect(found).toMatchObject({ path: assets, source: 'PATH', passedOver: [] });
  });

  it.each([
    ['an older one', 'echo "etcd Version: 3.4.23"', /is 3\.4\.23; needed: 3\.6\.x/],
    ['one that fails', 'exit 1', /does not state its version/],
  ])('passes over %s and says why', async (_, text, reason) => {
    script(join(folder, 'path/etcd'), text);
    await expect(resolveBinary(options(offline(), { PATH: `${folder}/path:/bin` }))).rejects.toThrow(reason);
  });

  it('takes one that states its version and fails all the same', async () => {
    const path = script(join(folder, 'path/sipp'), 'echo "SIPp v3.7.2-TLS" >&2; exit 99');
    expect(await resolveBinary(options(binarySpec('sipp'), { PATH: `${folder}/path` }))).toMatchObject({ path, source: 'PATH' });
  });

  it('asks for pgvector next to Postgres', async () => {
    const { wheel: _, ...postgres } = binarySpec('postgres');
    const path = script(join(folder, 'pg/bin/postgres'), 'echo "postgres (PostgreSQL) 17.2"');
    script(join(folder, 'pg/bin/initdb'), 'true');
    const env = { PATH: `${folder}/pg/bin:/bin` };
    await expect(resolveBinary(options(postgres, env))).rejects.toThrow('17.2 without the pgvector extension');
    script(join(folder, 'pg/share/postgresql/extension/vector.control'), '');
    expect((await resolveBinary(options(postgres, env))).path).toBe(path);
    script(join(folder, 'pg/bin/postgres'), 'echo "postgres (PostgreSQL) 15.18"');
    await expect(resolveBinary(options(postgres, env))).rejects.toThrow('is 15.18; needed: 16 or newer with pgvector');
  });
});

describe('mirror and cache', () => {
  it.each(['folder', 'web address'])('takes it from a mirror that is a %s, and from the cache after that', async (kind) => {
    const mirror = kind === 'folder' ? mirrorFolder('#!/bin/sh\necho hello') : await serve(mirrorFiles('#!/bin/sh\necho hello'));
    const first = await resolveBinary(options(offline(), { PARLEY_BINARY_MIRROR: mirror }));
    expect(first).toMatchObject({ source: 'mirror', path: join(folder, 'cache/etcd/3.6.4/etcd') });
    expect(execFileSync(first.path, { encoding: 'utf8' })).toBe('hello\n');
    const second = await resolveBinary(options(offline()));
    expect(second).toMatchObject({ source: 'cache', path: first.path });
    expect(readdirSync(join(folder, 'cache/etcd'))).toEqual(['3.6.4']);
  });

  it('never keeps what has the wrong checksum', async () => {
    await expect(resolveBinary(options(offline(), { PARLEY_BINARY_MIRROR: mirrorFolder('tampered', true) }))).rejects.toThrow(
      /has the sha256 [0-9a-f]{64}, expected [0-9a-f]{64}/,
    );
    expect(readdirSync(join(folder, 'cache/etcd'))).toEqual([]);
  });

  it('says what a mirror lacks', async () => {
    const mirror = mirrorFolder('x');
    await expect(resolveBinary(options(offline(), { PARLEY_BINARY_MIRROR: mirror }, { platform: 'darwin-arm64' }))).rejects.toThrow(
      'has no etcd 3.6.4 for darwin-arm64',
    );
    await expect(resolveBinary(options(offline(), { PARLEY_BINARY_MIRROR: join(folder, 'nowhere') }))).rejects.toThrow(/nowhere: .*ENOENT/);
  });

  it('lets one of two fetch and the other find it there', async () => {
    const mirror = mirrorFolder('content');
    const both = await Promise.all([1, 2].map(() => resolveBinary(options(offline(), { PARLEY_BINARY_MIRROR: mirror }))));
    expect(new Set(both.map(({ path }) => path)).size).toBe(1);
    expect(readdirSync(join(folder, 'cache/etcd'))).toEqual(['3.6.4']);
  });

  it('takes over the lock of a process that is gone', async () => {
    mkdirSync(join(folder, 'cache/etcd'), { recursive: true });
    writeFileSync(join(folder, 'cache/etcd/3.6.4.lock'), '999999999\n');
    expect((await resolveBinary(options(offline(), { PARLEY_BINARY_MIRROR: mirrorFolder('content') }))).source).toBe('mirror');
    expect(existsSync(join(folder, 'cache/etcd/3.6.4.lock'))).toBe(false);
  });
});

function releaseOf(url: string, bytes: Buffer): BinarySpec {
  return {
    ...offline(),
    official: { 'linux-amd64': { url, member: 'etcd-v3.6.4-linux-amd64/etcd', checksum: { algorithm: 'sha256', hex: sha256(bytes) } } },
  };
}

function archive(): Buffer {
  script(join(folder, 'release/etcd-v3.6.4-linux-amd64/etcd'), 'echo released');
  return gzipSync(execFileSync('tar', ['-C', join(folder, 'release'), '-cf', '-', 'etcd-v3.6.4-linux-amd64']));
}

describe('release and sources', () => {
  it("takes the executable out of the project's archive", async () => {
    const bytes = archive();
    const found = await resolveBinary(options(releaseOf(`${await serve({ '/etcd.tar.gz': bytes })}/etcd.tar.gz`, bytes)));
    expect(found.source).toBe('release');
    expect(execFileSync(found.path, { encoding: 'utf8' })).toBe('released\n');
    expect(readdirSync(dirname(found.path))).toEqual(['etcd']);
  });

  it('builds where the release can not be had, and says so at once', async () => {
    const go = `case "$1" in
      env) echo go1.26.1 ;;
      list) printf 'a/b\\nc\\nd/e/v2\\n' ;;
      build) printf 'a/b\\nc\\n# not a package\\nd/e/v2\\n' >&2; while [ "$1" != -o ]; do shift; done; printf '#!/bin/sh\\necho built' > "$2"; chmod +x "$2" ;;
    esac`;
    script(join(folder, 'path/go'), go);
    mkdirSync(join(folder, 'modules/kubernetes'), { recursive: true });
    const progress: BinaryProgress[] = [];
    const spec = { ...releaseOf('http://parley.invalid/etcd.tar.gz', archive()), go: binarySpec('etcd').go! };
    const found = await resolveBinary(
      options(spec, { PATH: `${folder}/path:/usr/bin:/bin` }, { onProgress: (entry) => progress.push(entry) }),
    );
    expect(found.source).toBe('Go sources');
    expect(found.passedOver).toEqual([expect.stringMatching(/^release: parley\.invalid can't be reached \((ENOTFOUND|EAI_AGAIN)\)$/)]);
    expect(progress.some(({ note }) => note?.endsWith('trying the next source'))).toBe(true);
    expect(progress.at(-1)).toMatchObject({ phase: 'building', done: 3, total: 4 });
    expect(readFileSync(found.path, 'utf8')).toContain('echo built');
  });

  it('unpacks a Debian package with the libraries that it depends on, and runs it with them', async () => {
    const apt = `case "$*" in *update*) exit 0 ;; *install*chromium) ;; *) exit 1 ;; esac
    for argument; do case "$argument" in Dir::Cache::archives=*) cd "\${argument#*=}" ;; esac; done
    touch chromium.deb library.deb`;
    script(join(folder, 'path/apt-get'), `[ "$1" = --version ] && exit 0\n${apt}`);
    const unpack = `case "$2" in
      *chromium.deb) mkdir -p "$3/usr/lib/chromium" && printf '#!/bin/sh\necho "$LD_LIBRARY_PATH" "$@"' > "$3/usr/lib/chromium/chromium" && chmod +x "$3/usr/lib/chromium/chromium" ;;
      *library.deb) mkdir -p "$3/usr/lib/x86_64-linux-gnu/sound" ;;
    esac`;
    script(join(folder, 'path/dpkg-deb'), `[ "$1" = --version ] && exit 0\n${unpack}`);
    const spec = binarySpec('chromium');
    const found = await resolveBinary(options(spec, { PATH: `${folder}/path:/usr/bin:/bin` }));
    expect(found.source).toBe('Debian package');
    const libraries = join(dirname(found.path), 'root/usr/lib/x86_64-linux-gnu');
    expect(execFileSync(found.path, ['--headless'], { encoding: 'utf8', env: { PATH: '/usr/bin:/bin' } })).toBe(
      `${libraries}/sound/:${libraries} --headless\n`,
    );
    expect(readdirSync(dirname(found.path)).toSorted()).toEqual(['chromium', 'root']);
  });

  it('says how to install what can not be fetched', async () => {
    const failure = await resolveBinary(options(binarySpec('sipp'), { PATH: `${folder}/empty` })).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      message: expect.stringMatching(/^sipp .*no apt-get/s),
      cure: expect.stringContaining('apt-get install sip-tester'),
    });
  });

  it.each([
    ['go1.19.4', 'Go 1.19.4 is too old to build it: 1.25 or newer is needed'],
    [undefined, 'Go is not on PATH'],
  ])('names every source that could not serve, with Go %s', async (version, reason) => {
    if (version !== undefined) script(join(folder, 'path/go'), `echo ${version}`);
    const spec = { ...offline(), go: binarySpec('etcd').go! };
    const failure = await resolveBinary(options(spec, { PATH: `${folder}/path:${folder}/empty` })).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      name: 'UserError',
      message: expect.stringContaining(reason),
      cure: expect.stringContaining('PARLEY_BINARY_MIRROR'),
    });
  });
});
