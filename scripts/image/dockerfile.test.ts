/** Compares the Dockerfile, which no engine runs here, with the image that is built and run without one. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { expect, it } from 'vitest';

import { imageMeta, writableFolders } from './meta.ts';

const root = join(import.meta.dirname, '../..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string };

interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** Returns the instructions of the last stage and of those before it: comments away, continued lines in one. */
function stages(): readonly (readonly Instruction[])[] {
  const lines = readFileSync(join(root, 'Dockerfile'), 'utf8').split('\n');
  const code = lines.filter((line) => !line.startsWith('#')).join('\n');
  const found: Instruction[][] = [[]];
  for (const line of code.replaceAll(/\\\n\s*/g, '').split('\n')) {
    const [, name, text] = /^([A-Z]+)\s+(.+)$/.exec(line.trim()) ?? [];
    if (line.trim() === '') continue;
    if (name === undefined || text === undefined) throw new Error(`no instruction: ${line}`);
    if (name === 'FROM') found.push([]);
    found.at(-1)?.push({ name, text });
  }
  return found;
}

const [argumentsBefore = [], build = [], last = []] = stages();
const only = (name: string, of = last): string => {
  const [first, ...more] = of.filter((instruction) => instruction.name === name);
  expect(more).toEqual([]);
  return first?.text ?? '';
};
/** Reads `NAME=value` pairs, quoted or not. */
const pairs = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/([\w.]+)=(?:"([^"]*)"|(\S+))/g)].map(([, name, quoted, plain]) => [name, quoted ?? plain]));
const meta = imageMeta({ version, architecture: 'amd64' });

it('runs the same program, as the same user, with the same environment', () => {
  expect(JSON.parse(only('ENTRYPOINT'))).toEqual(meta.entrypoint);
  expect(only('USER')).toBe(meta.user);
  const { PATH: path, ...environment } = meta.environment;
  expect(pairs(only('ENV'))).toEqual(environment);
  // The PATH of the base image holds these folders, and more.
  expect(path?.split(':')).toEqual(['/usr/local/bin', '/usr/bin', '/bin']);
  expect(pairs(only('LABEL'))).toEqual(meta.labels);
});

it('has the same files: what the script stages, over a base with the same accounts', () => {
  const staged = build.filter(({ name, text }) => name === 'RUN' && text.includes('scripts/image/main.ts'));
  expect(staged).toHaveLength(1);
  const { values } = parseArgs({ args: staged[0]?.text.split(' ').slice(-2) ?? [], options: { stage: { type: 'string' } } });
  const copied = last.filter(({ name }) => name === 'COPY').map(({ text }) => text);
  expect(copied).toEqual(['node', 'packages', 'app'].map((layer) => `--from=build ${values.stage}/${layer}/ /`));
  const [uid] = meta.user.split(':');
  expect(only('RUN')).toMatch(new RegExp(`groupadd --gid ${uid} parley.*useradd --uid ${uid} --gid ${uid} `));
  // The base image has /tmp as it should be.
  const made = writableFolders
    .filter(({ path }) => path !== 'tmp')
    .map(({ path, mode, owner }) => `install --directory --owner=${owner} --group=${owner} --mode=${mode} /${path}`);
  for (const command of made) expect(only('RUN')).toContain(command);
});

it('installs from Debian what the other image unpacks, beyond what Debian slim has', () => {
  const { packages, suite } = JSON.parse(readFileSync(join(root, 'scripts/image/debian-packages.json'), 'utf8')) as {
    readonly suite: string;
    readonly packages: Readonly<Record<string, object>>;
  };
  const [, installed = ''] = /apt-get install (?:--\S+ )*([\w+. -]+?) &&/.exec(only('RUN')) ?? [];
  const slim = ['base-files', 'libc6', 'libc-bin', 'libgcc-s1', 'gcc-12-base', 'dash'];
  expect([...installed.split(' '), ...slim].sort()).toEqual(Object.keys(packages).sort());
  const bases = argumentsBefore.map(({ text }) => text);
  expect(bases).toEqual([
    expect.stringMatching(new RegExp(`^NODE_IMAGE=node:24-${suite}-slim`)),
    expect.stringMatching(new RegExp(`^DEBIAN_IMAGE=debian:${suite}-slim`)),
  ]);
});

it('leaves out of the build what the checkout has in addition to its sources', () => {
  const ignored = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n');
  expect(ignored).toEqual(expect.arrayContaining(['node_modules', 'dist', 'build', '.parley']));
});
