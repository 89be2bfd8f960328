/** Runs the end-to-end suites, which otherwise run against `parley dev`, against the installation on the node. */
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { writeEnvFile } from '../../local-stack/env-file.ts';
import { WORLD_ADDRESS } from './cluster.ts';
import { NAMESPACE, ORGANIZATION, type InstalledServers } from './installation.ts';

export interface EndToEndOptions {
  /** Environment with the address of the REST API, and a key. */
  readonly env: NodeJS.ProcessEnv;
  readonly kubectl: readonly [string, ...string[]];
  readonly parley: readonly [string, ...string[]];
  readonly servers: InstalledServers;
  readonly root: string;
  /** Folder with `.parley/run` and `.parley/logs`, like the folder of a local stack. */
  readonly work: string;
  /** Names of the suites to run; all where empty. */
  readonly suites?: readonly string[];
}

/** @returns the numbers of passed and failed suites */
export async function endToEnd({ env, kubectl, parley, servers, root, work, suites = [] }: EndToEndOptions): Promise<string> {
  const bin = join(work, '.parley/bin');
  rmSync(bin, { recursive: true, force: true });
  mkdirSync(bin, { recursive: true });
  symlinkSync(kubectl[0], join(bin, 'kubectl'));
  writeFileSync(join(bin, 'parley'), `#!/bin/sh\nexec ${parley.map((word) => `'${word}'`).join(' ')} "$@"\n`, { mode: 0o755 });
  const given = (name: string): string => env[name] ?? '';
  const stack = {
    PARLEY_URL: given('PARLEY_URL'),
    PARLEY_ORG: ORGANIZATION,
    PARLEY_API_KEY: given('PARLEY_API_KEY'),
    KUBECONFIG: given('KUBECONFIG'),
    DATABASE_URL: servers.databaseUrl,
    STORAGE_URL: 'file:///var/lib/parley',
    TEMPORAL_ADDRESS: `127.0.0.1:${servers.temporalPort}`,
    PARLEY_RECEIVER: servers.receiverUrl,
    LIVEKIT_URL: `ws://127.0.0.1:${servers.livekit.port}`,
    PARLEY_SPEECH_URL: servers.speechUrl,
    PARLEY_CALL_URL: `${given('PARLEY_URL')}/call`,
    PARLEY_BIN: bin,
    PARLEY_TEST_NAMESPACE: NAMESPACE,
    PARLEY_TEST_HOST: WORLD_ADDRESS,
  };
  writeEnvFile(join(work, '.parley/dev.env'), stack);
  const vitest = [
    process.execPath,
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--root',
    root,
    '--project',
    'e2e',
    ...suites,
  ] as const;
  const log = join(work, '.parley/logs/end-to-end.log');
  const [file, ...args] = vitest;
  const descriptor = openSync(log, 'w');
  const child = spawn(file, args, { env: { ...env, PARLEY_E2E_STACK: work, NO_COLOR: '1' }, stdio: ['ignore', descriptor, descriptor] });
  const code = await new Promise((done, failed) => child.on('error', failed).on('exit', done));
  closeSync(descriptor);
  const said = readFileSync(log, 'utf8');
  if (code !== 0) throw new Error(`${said.slice(said.indexOf('Failed Tests')).slice(0, 12_000)}\n(all of it is in ${log})`);
  return /Tests\s+(.*)/.exec(said)?.[1] ?? 'nothing was counted';
}
