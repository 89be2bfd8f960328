/**
 * Makes the images that the chart parley-demo takes beside Parley's, of the programs of the local stack: Postgres, Temporal, LiveKit, Python.
 * They have what the chart asks of the public ones, and no more.
 */
import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';

import type { BinaryName } from '../../local-stack/programs.ts';
import { findPythonWithVenv } from '../../local-stack/binaries/python-environment.ts';
import { SPEECH_TOOLS } from '../../local-stack/speech/main.ts';
import { writeImage } from '../../scripts/image/oci.ts';
import { output } from './output.ts';

const run = promisify(execFile);

export const DEMO_IMAGES = ['postgres', 'temporal', 'livekit', 'python'] as const;
export type DemoImage = (typeof DEMO_IMAGES)[number];
export const DEMO_TAG = 'node';
export const demoImageName = (image: DemoImage): string => `parley.test/${image}`;

interface Content {
  readonly entrypoint?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** @param options.image the folder of `make image`, whose Debian layer has what programs need: a C library, a shell, certificates */
export async function buildDemoImages(options: {
  readonly folder: string;
  readonly image: string;
  readonly umoci: string;
  readonly binary: (name: BinaryName) => Promise<string>;
}): Promise<void> {
  const { folder, binary } = options;
  await rm(folder, { recursive: true, force: true });
  const contents: Readonly<Record<DemoImage, (layer: string) => Promise<Content>>> = {
    postgres: async (layer) => layPostgres(layer, await binary('postgres')),
    temporal: async (layer) => {
      await layProgram(layer, await binary('temporal'), '/usr/local/bin/temporal');
      return { entrypoint: ['temporal'] };
    },
    livekit: async (layer) => {
      await layProgram(layer, await binary('livekit-server'), '/livekit-server');
      return { entrypoint: ['/livekit-server'] };
    },
    python: layPython,
  };
  for (const name of DEMO_IMAGES) {
    const layer = join(folder, `${name}-files`);
    const { entrypoint = [], environment = {} } = await contents[name](layer);
    await writeImage({
      umoci: options.umoci,
      layout: join(folder, name),
      tag: DEMO_TAG,
      layers: [
        { name: 'debian', folder: join(options.image, 'layers/debian') },
        { name, folder: layer },
      ],
      meta: {
        user: '65532',
        entrypoint,
        environment: { PATH: '/usr/local/bin:/usr/bin:/bin', ...environment },
        labels: {},
        architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
      },
      epoch: 0,
    });
    await rm(layer, { recursive: true });
  }
}

/** The wheel's programs find their libraries two folders up, so its whole folder moves. */
async function layPostgres(layer: string, server: string): Promise<Content> {
  const wheel = dirname(dirname(dirname(dirname(server))));
  const programs = dirname(server).slice(wheel.length);
  await cp(wheel, join(layer, 'opt/postgres'), { recursive: true, verbatimSymlinks: true });
  await layLibraries(layer, [server, join(dirname(server), 'initdb')], wheel);
  await layProgram(layer, '/bin/sleep', '/bin/sleep');
  await mkdir(join(layer, 'etc'), { recursive: true });
  await writeFile(join(layer, 'etc/passwd'), 'root:x:0:0:root:/:/nonexistent\npostgres:x:999:999:PostgreSQL:/tmp:/nonexistent\n');
  return { environment: { PATH: `/opt/postgres${programs}:/usr/bin:/bin` } };
}

/** Lays out this machine's Python where the public image has its own, and the packages that pip would otherwise download. */
async function layPython(layer: string): Promise<Content> {
  const python = await findPythonWithVenv();
  if (python === undefined)
    throw new Error('Python 3.10 or newer with venv and ensurepip is not on PATH: run apt-get install python3-venv');
  const script = 'import json, sys, sysconfig; print(json.dumps([sys.executable, sysconfig.get_paths()["stdlib"]]))';
  const [executable, library] = JSON.parse(await output([python, '-c', script])) as [string, string];
  const to = join(layer, 'usr/local/lib', basename(library));
  const unneeded = /\/(test|tests|idlelib|tkinter|site-packages|dist-packages|__pycache__|config-[^/]*)(\/|$)|\/_tkinter[^/]*$/;
  await cp(library, to, { recursive: true, dereference: true, filter: (source) => !unneeded.test(source.slice(library.length)) });
  // Debian keeps the wheels of ensurepip elsewhere.
  await cp('/usr/share/python-wheels', join(layer, 'usr/share/python-wheels'), { recursive: true }).catch(() => undefined);
  await layProgram(layer, executable, '/usr/local/bin/python3');
  const modules = (await readdir(join(library, 'lib-dynload'))).filter((name) => name.endsWith('.so') && !name.startsWith('_tkinter'));
  await layLibraries(
    layer,
    modules.map((name) => join(library, 'lib-dynload', name)),
  );
  const wheels = join(layer, 'wheels');
  await run(python, ['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--dest', wheels, ...SPEECH_TOOLS.requirements]);
  return { environment: { PIP_NO_INDEX: '1', PIP_FIND_LINKS: '/wheels' } };
}

async function layProgram(layer: string, from: string, to: string): Promise<void> {
  await mkdir(dirname(join(layer, to)), { recursive: true });
  await cp(from, join(layer, to), { dereference: true });
  await layLibraries(layer, [from]);
}

/** Lays the libraries of programs where the programs look for them, but for those inside of `own`. */
async function layLibraries(layer: string, files: readonly string[], own?: string): Promise<void> {
  const listed = await output(['ldd', ...files] as [string, ...string[]]);
  const libraries = new Set([...listed.matchAll(/(?:=> |^\s+)(\/\S+) \(0x/gm)].map(([, path = '']) => path));
  for (const path of libraries) if (own === undefined || !path.startsWith(own)) await cp(path, join(layer, path), { dereference: true });
}
