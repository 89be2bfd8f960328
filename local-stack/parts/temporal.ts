import { execFile } from 'node:child_process';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { shellQuoted } from '../env-file.ts';
import type { Part, PartCommand } from '../supervisor.ts';
import { openTlsDoor, openUiDoor } from '../temporal/doors.ts';
import { LOOPBACK_UP } from '../temporal/isolation.ts';
import { shortPath } from '../temporal/short-path.ts';
import { canConnect } from './can-connect.ts';
import type { MutualTls } from './key-pairs.ts';

const run = promisify(execFile);

export interface TemporalOptions {
  readonly binary: string;
  /** Temporal's database; it is created when it is not there. */
  readonly databaseFile: string;
  readonly port: number;
  /** Without one there is no web interface. */
  readonly uiPort?: number;
}

/** A server that answers every process of this machine: for tests, whose data are nobody's. */
export function temporalPart(options: TemporalOptions): Part {
  return describePart(options, { command: () => serverCommand(options), port: options.port, flags: [] });
}

export interface GuardedTemporalOptions extends Required<TemporalOptions> {
  /** Who shows the client's certificate is let in. */
  readonly tls: MutualTls;
  /** Of the web interface. */
  readonly uiPassword: string;
  /** How to run the `parley` command. */
  readonly parley: readonly [file: string, ...args: string[]];
  /** For sockets; for the eyes of its owner only. */
  readonly runDir: string;
  /** Ports of the server itself, which nobody is to call. */
  readonly inner: { readonly port: number; readonly uiPort: number };
  /** Flags of `unshare`; without them the server's own ports are open to every process of this machine. */
  readonly isolation: readonly string[] | undefined;
}

/**
 * The development server has no credentials of any kind. It runs in a network of its own where the system allows that, and is reached
 * through doors that ask for them.
 */
export function guardedTemporalPart(options: GuardedTemporalOptions): Part {
  const { inner, isolation, runDir, tls } = options;
  const command = serverCommand({ ...options, ...inner });
  const sockets = { grpc: 'temporal.sock', ui: 'temporal-ui.sock' };
  const [relayFile, ...relayArgs] = options.parley;
  const relay = [
    relayFile,
    ...relayArgs,
    'dev-relay',
    // The shell's own number, which the server has from then on.
    '$$',
    `${inner.port}=${join(runDir, sockets.grpc)}`,
    `${inner.uiPort}=${join(runDir, sockets.ui)}`,
  ].map((word) => (word === '$$' ? word : shellQuoted(word)));
  const server = [command.file, ...command.args].map(shellQuoted);
  const part = describePart(options, {
    command: () =>
      isolation === undefined
        ? command
        : {
            ...command,
            file: 'unshare',
            becomes: [command.file, ...command.args],
            args: [...isolation, '/bin/sh', '-c', `${LOOPBACK_UP}; { ${relay.join(' ')} || kill -KILL $$; } & exec ${server.join(' ')}`],
          },
    port: options.port,
    flags: [`--tls-cert-path=${tls.client.cert}`, `--tls-key-path=${tls.client.key}`, `--tls-ca-path=${tls.server.cert}`],
  });
  return {
    ...part,
    prepare: async () => {
      const to = isolation === undefined ? { port: inner.port, host: '127.0.0.1' } : { path: shortPath(runDir, sockets.grpc) };
      await openTlsDoor({ port: options.port, tls, to });
      await openUiDoor({
        port: options.uiPort,
        password: options.uiPassword,
        target: inner.uiPort,
        ...(isolation !== undefined && { socketPath: shortPath(runDir, sockets.ui) }),
      });
    },
  };
}

function serverCommand(options: TemporalOptions): PartCommand {
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
      // Work that is queued takes turns by the keys that it was started with: for Parley's, organisations.
      '--dynamic-config-value=matching.enableFairness=true',
    ],
    // The command would otherwise read and write the person's own Temporal configuration.
    env: { ...process.env, TEMPORAL_DISABLE_CONFIG_FILE: 'true', HOME: process.env['HOME'] ?? '/' },
  };
}

function describePart(
  { binary, databaseFile }: TemporalOptions,
  { command, port, flags }: { readonly command: () => PartCommand; readonly port: number; readonly flags: readonly string[] },
): Part {
  return {
    name: 'temporal',
    dependsOn: [],
    command,
    check: async (signal) => {
      // The command takes a while to start: it is not asked before the port is open.
      await canConnect(port, signal);
      await run(
        binary,
        ['operator', 'namespace', 'describe', 'default', `--address=127.0.0.1:${port}`, '--output=json', '--disable-config-env', ...flags],
        { signal, timeout: 10_000 },
      );
    },
    // Inputs and results of workflows stand in it. A file made ahead would be taken for a database that is complete.
    afterReady: () => chmod(databaseFile, 0o600),
  };
}
