import { execFile } from 'node:child_process';
import { chmod, readdir } from 'node:fs/promises';
import type { NetConnectOpts } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { type BinarySpec, downloads, sameMinor } from '../binaries/binary-spec.ts';
import { shellQuoted } from '../env-file.ts';
import type { Component, ComponentCommand } from '../supervisor.ts';
import { canConnect } from './probes.ts';
import type { MutualTls } from './secrets.ts';
import { openTlsProxy, openUiProxy } from './temporal-proxies.ts';
import { shortPath } from './temporal-relay.ts';

const run = promisify(execFile);

const VERSION = '1.5.1';

export const TEMPORAL: BinarySpec = {
  name: 'temporal',
  version: VERSION,
  versionProbe: { args: ['--version'], pattern: /temporal version (\S+)/ },
  accepted: sameMinor(VERSION),
  executable: 'temporal',
  // The sums are those of the release's checksums.txt, as two package collections that pin it repeat it.
  official: downloads(
    'sha256',
    {
      'linux-amd64': 'ddc95e08b0b076efd4ea9733a3f488eb7d2be875f8834e616cd2a37358b4852d',
      'linux-arm64': 'bd1b0db9f18b051026de8bf6cc1505f2510f14bbb7a8b9a4a91fff46c77454f5',
      'darwin-amd64': 'bbb73e2a31135abe50a1f1cdb35030c42961df618e8ce9c60ae89f201540c5d9',
      'darwin-arm64': 'cca01b7ea35ad56e2a328d9ae596bf716bd22313ef63c7a761c88354457c2415',
    },
    (platform) => ({
      url: `https://github.com/temporalio/cli/releases/download/v${VERSION}/temporal_cli_${VERSION}_${platform.replace('-', '_')}.tar.gz`,
      member: 'temporal',
    }),
  ),
  go: {
    module: 'temporal',
    package: 'github.com/temporalio/cli/cmd/temporal',
    variables: { 'github.com/temporalio/cli/temporalcli.Version': VERSION },
    seconds: 120,
  },
};

interface TemporalOptions {
  readonly binary: string;
  /** File of Temporal's database; it is created when it is not there. */
  readonly databaseFile: string;
  readonly port: number;
  /** Port of the web interface; without one there is none. */
  readonly uiPort?: number;
}

/** Runs a server without credentials, which answers every process of this machine: for tests. */
export function temporalComponent(options: TemporalOptions): Component {
  const { binary, databaseFile, port } = options;
  return { ...probed(binary, port, []), command: () => serverCommand(options), afterReady: () => hide(databaseFile) };
}

interface GuardedTemporalOptions extends Required<TemporalOptions> {
  /** Clients have to show the client certificate of this pair. */
  readonly tls: MutualTls;
  /** Password of the web interface. */
  readonly uiPassword: string;
  /** Runs the `parley` command. */
  readonly parley: readonly [file: string, ...args: string[]];
  /** Folder for sockets; readable by its owner only. */
  readonly runDir: string;
  /** Ports of the server itself, which only the proxies call. */
  readonly inner: { readonly port: number; readonly uiPort: number };
  /** Flags of `unshare`; without them the server's own ports are open to every process of this machine. */
  readonly isolation: readonly string[] | undefined;
}

/**
 * Runs the development server, which has no credentials of any kind, in a network namespace of its own where the system allows that,
 * behind proxies that ask for credentials.
 */
export function guardedTemporalComponent(options: GuardedTemporalOptions): Component {
  const { binary, databaseFile, port, uiPort, inner, isolation, runDir, tls, parley } = options;
  const command = serverCommand({ ...options, ...inner });
  const sockets = { grpc: 'temporal.sock', ui: 'temporal-ui.sock' };
  const server = [command.file, ...command.args];
  const routes = [`${inner.port}=${join(runDir, sockets.grpc)}`, `${inner.uiPort}=${join(runDir, sockets.ui)}`];
  // `$$` is the shell's own process id, which the server has after `exec`.
  const relay = `${words([...parley, 'dev-relay'])} $$ ${words(routes)}`;
  const isolated = {
    ...command,
    file: 'unshare',
    becomes: server,
    args: [...(isolation ?? []), '/bin/sh', '-c', `${LOOPBACK_UP}; { ${relay} || kill -KILL $$; } & exec ${words(server)}`],
  };
  return {
    ...probed(binary, port, [`--tls-cert-path=${tls.client.cert}`, `--tls-key-path=${tls.client.key}`, `--tls-ca-path=${tls.server.cert}`]),
    prepare: async () => {
      const addressOf = (socket: string, innerPort: number): NetConnectOpts =>
        isolation === undefined ? { port: innerPort, host: '127.0.0.1' } : { path: shortPath(runDir, socket) };
      await openTlsProxy({ port, tls, to: addressOf(sockets.grpc, inner.port) });
      await openUiProxy({ port: uiPort, password: options.uiPassword, to: addressOf(sockets.ui, inner.uiPort) });
    },
    command: () => (isolation === undefined ? command : isolated),
    afterReady: () => hide(databaseFile),
  };
}

const words = (list: readonly string[]): string => list.map(shellQuoted).join(' ');

/** Hides the inputs and results of workflows from other accounts. A file created in advance would be taken for a complete database. */
const hide = async (databaseFile: string): Promise<void> => {
  const folder = dirname(databaseFile);
  const files = (await readdir(folder)).filter((name) => name.startsWith(basename(databaseFile)));
  await Promise.all(files.map((name) => chmod(join(folder, name), 0o600)));
};

function serverCommand(options: TemporalOptions): ComponentCommand {
  return {
    file: options.binary,
    args: [
      'server',
      'start-dev',
      '--ip=127.0.0.1',
      `--port=${options.port}`,
      `--db-filename=${options.databaseFile}`,
      ...(options.uiPort === undefined ? ['--headless'] : ['--ui-ip=127.0.0.1', `--ui-port=${options.uiPort}`]),
      '--log-level=warn',
      // SQLite's default, a rollback journal, waits for the disk several times in each transaction. Only a crash of the machine can lose
      // the last moments, and those are started again from Postgres.
      '--sqlite-pragma=journal_mode=wal',
      '--sqlite-pragma=synchronous=normal',
      // Queued work takes turns by its fairness key: for Parley, knowledge bases and organisations.
      '--dynamic-config-value=matching.enableFairness=true',
      // One process needs no partitions of its queues, and each costs processor time while it is polled.
      '--dynamic-config-value=matching.numTaskqueueReadPartitions=1',
      '--dynamic-config-value=matching.numTaskqueueWritePartitions=1',
    ],
    // The command would otherwise read and write the person's own Temporal configuration.
    env: { ...process.env, TEMPORAL_DISABLE_CONFIG_FILE: 'true', HOME: process.env['HOME'] ?? '/' },
  };
}

function probed(binary: string, port: number, flags: readonly string[]): Pick<Component, 'name' | 'dependsOn' | 'nice' | 'check'> {
  const args = ['operator', 'namespace', 'describe', 'default', `--address=127.0.0.1:${port}`, '--output=json', '--disable-config-env'];
  return {
    name: 'temporal',
    dependsOn: [],
    nice: 5,
    check: async (signal) => {
      // The command takes a while to start: it runs only once the port is open.
      await canConnect(port, signal);
      await run(binary, [...args, ...flags], { signal, timeout: 10_000 });
    },
  };
}

/** Brings the loopback device of a new network namespace up. */
const LOOPBACK_UP = '{ ip link set lo up || ifconfig lo up; } 2>/dev/null';

/**
 * Finds the flags of `unshare` with which a program gets a network of its own, so that no process outside reaches its ports. Undefined
 * where this system has no such thing, or doesn't allow it: macOS, most containers, some distributions for others than root.
 */
export async function networkIsolation(): Promise<readonly string[] | undefined> {
  if (process.platform !== 'linux') return undefined;
  // The first flags are for root; others need a user namespace, where the system allows one.
  for (const flags of [['--net'], ['--user', '--map-root-user', '--net']]) {
    try {
      await run('unshare', [...flags, '/bin/sh', '-c', LOOPBACK_UP], { timeout: 10_000 });
      return flags;
    } catch {
      // The loop tries the next flags.
    }
  }
  return undefined;
}
