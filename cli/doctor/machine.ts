/** Checks whether this machine can run the local stack, and where its programs would come from. */
import { accessSync, constants, existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { dirname } from 'node:path';

import { cacheFolder } from '../../local-stack/binaries/cache.ts';
import type { BinarySpec } from '../../local-stack/binaries/binary-spec.ts';
import { goVersion } from '../../local-stack/binaries/go-build.ts';
import { cureForBinary, currentPlatform, type Offer, offers } from '../../local-stack/binaries/resolve.ts';
import { externalDatabase } from '../../local-stack/env-file.ts';
import { layoutOf } from '../../local-stack/layout.ts';
import { freePorts, portIsFree } from '../../local-stack/ports.ts';
import { STACK_PROGRAMS } from '../../local-stack/programs.ts';
import { readSettings } from '../../local-stack/settings.ts';
import { runningSupervisor } from '../../local-stack/supervisor-lock.ts';
import { type Finding, findingsOf } from './finding.ts';
import { reachable } from './reachable.ts';

export interface MachineOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly folder: string;
}

const GIGABYTE = 1e9;
/** Space for all programs in the cache, and a stack's data. */
const diskNeeded = 3 * GIGABYTE;
/** Space that Go's build and module caches add. */
const diskToBuild = 7 * GIGABYTE;
const memoryNeeded = 3 * GIGABYTE;

/** Makes the checks in the order in which a start would meet them. */
export async function* checkMachine(options: MachineOptions): AsyncGenerator<Finding> {
  const major = Number(process.versions.node.split('.')[0]);
  yield major >= 24
    ? findingsOf('node-js').ok(process.version)
    : findingsOf('node-js').fail(`${process.version} is too old`, 'run `npm ci` in the checkout: it installs Node.js 24 in node_modules');
  const platform = currentPlatform();
  yield /^(linux|darwin)-(amd64|arm64)$/.test(platform)
    ? findingsOf('platform').ok(platform)
    : findingsOf('platform').fail(`${platform} is not supported`, 'use Linux or macOS on amd64 or arm64 (on Windows: WSL 2)');
  yield totalmem() >= memoryNeeded
    ? findingsOf('memory').ok(`${(totalmem() / GIGABYTE).toFixed(1)} GB`)
    : findingsOf('memory').warn(
        `${(totalmem() / GIGABYTE).toFixed(1)} GB is little`,
        'give the machine 4 GB: the servers of the stack take about 1 GB',
      );
  yield* checkFolder(options);
  const go = await goVersion(options.env);
  yield 'problem' in go
    ? findingsOf('go').warn(
        `${go.problem}; only needed where releases can't be downloaded`,
        'install Go 1.25 or newer when the programs below have no other source',
      )
    : findingsOf('go').ok(go.version);
  let builds = false;
  for (const spec of STACK_PROGRAMS) {
    const { finding, fromSource } = await checkProgram(spec, options.env);
    builds ||= fromSource;
    yield finding;
  }
  yield* checkDisk(options, builds);
  yield* checkPorts(options);
}

async function* checkFolder(options: MachineOptions): AsyncGenerator<Finding> {
  const layout = layoutOf(options.folder);
  const at = existsSync(layout.root) ? layout.root : options.folder;
  try {
    accessSync(at, constants.W_OK);
    const pid = await runningSupervisor(layout.supervisorPid);
    yield findingsOf('folder').ok(`${layout.root}${pid === undefined ? '' : `, where a stack runs (process ${pid})`}`);
  } catch {
    yield findingsOf('folder').fail(`${at} can't be written`, 'run `parley dev` in a folder of your own');
  }
}

async function checkProgram(
  spec: BinarySpec,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly finding: Finding; readonly fromSource: boolean }> {
  const program = findingsOf('programs', `${spec.name} ${spec.version}`);
  if (spec.name === 'postgres' && externalDatabase(env) !== undefined)
    return { finding: program.ok('not needed: DATABASE_URL names a server'), fromSource: false };
  const passedOver: string[] = [];
  for await (const offer of offers({ spec, env })) {
    const problem = await offerProblem(offer);
    if (problem !== undefined) {
      passedOver.push(`${offer.source}: ${problem}`);
      continue;
    }
    const not = passedOver.length === 0 ? '' : ` (not ${passedOver.join('; ')})`;
    const how = offer.path === undefined ? `would come from the ${offer.source}: ${offer.detail}` : `${offer.source}: ${offer.detail}`;
    return { finding: program.ok(`${how}${not}`), fromSource: offer.source === 'Go sources' };
  }
  return { finding: program.fail(`is not available: ${passedOver.join('; ')}`, cureForBinary(spec)), fromSource: false };
}

/** Says why an offer can't be taken up; a release needs its server to be reachable. */
async function offerProblem(offer: Offer): Promise<string | undefined> {
  if (offer.path !== undefined) return undefined;
  if (offer.obtain === undefined) return offer.detail;
  if (offer.source !== 'release') return undefined;
  const host = new URL(offer.detail).host;
  return (await reachable(host)) ? undefined : `${host} can't be reached`;
}

async function* checkDisk(options: MachineOptions, builds: boolean): AsyncGenerator<Finding> {
  const needed = diskNeeded + (builds ? diskToBuild : 0);
  for (const [name, folder] of [
    ['disk for the programs', cacheFolder(options.env)],
    ['disk for the data', options.folder],
  ] as const) {
    const disk = findingsOf('disk', name);
    let at = folder;
    while (!existsSync(at)) at = dirname(at);
    const { bavail, bsize } = await statfs(at);
    const free = bavail * bsize;
    const detail = `${(free / GIGABYTE).toFixed(1)} GB free at ${at}`;
    yield free >= needed
      ? disk.ok(detail)
      : disk.warn(
          `${detail}; ${(needed / GIGABYTE).toFixed(0)} GB are comfortable`,
          'free some space, or set XDG_CACHE_HOME to a larger disk',
        );
  }
}

async function* checkPorts(options: MachineOptions): AsyncGenerator<Finding> {
  try {
    await freePorts(1);
  } catch (error) {
    yield findingsOf('ports').fail(`none can be had on 127.0.0.1: ${(error as Error).message}`, 'allow programs to listen on loopback');
    return;
  }
  const layout = layoutOf(options.folder);
  if ((await runningSupervisor(layout.supervisorPid)) !== undefined) {
    yield findingsOf('ports').ok('in use by the stack of this folder');
    return;
  }
  const wanted = options.env['PARLEY_API_PORT'];
  if (wanted !== undefined && wanted !== '' && wanted !== '0' && !(await portIsFree(Number(wanted)))) {
    yield findingsOf('ports').fail(
      `${wanted}, from PARLEY_API_PORT, is taken`,
      'set PARLEY_API_PORT to another port, or unset it: the stack then takes a free one',
    );
    return;
  }
  const taken = [];
  for (const [name, port] of Object.entries(readSettings(layout.settings).ports ?? {}))
    if (!(await portIsFree(port))) taken.push(`${port} (${name})`);
  yield taken.length === 0
    ? findingsOf('ports').ok('free ones are found at the start')
    : findingsOf('ports').warn(`taken since the last start: ${taken.join(', ')}; others are found, and addresses change`);
}
