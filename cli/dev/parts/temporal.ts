import { execFile } from 'node:child_process';
import { chmod } from 'node:fs/promises';
import { promisify } from 'node:util';

import type { Part } from '../supervisor.ts';
import { canConnect } from './can-connect.ts';

const run = promisify(execFile);

export interface TemporalOptions {
  readonly binary: string;
  /** Temporal's database; it is created when it is not there. */
  readonly databaseFile: string;
  readonly port: number;
  /** Without one there is no web interface. */
  readonly uiPort?: number;
}

export function temporalPart(options: TemporalOptions): Part {
  const address = `127.0.0.1:${options.port}`;
  return {
    name: 'temporal',
    dependsOn: [],
    command: () => ({
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
    }),
    check: async (signal) => {
      // The command takes a while to start: it is not asked before the port is open.
      await canConnect(options.port, signal);
      await run(options.binary, ['operator', 'namespace', 'describe', 'default', `--address=${address}`, '--output=json'], {
        signal,
        timeout: 10_000,
      });
    },
    // Inputs and results of workflows stand in it. A file made ahead would be taken for a database that is complete.
    afterReady: () => chmod(options.databaseFile, 0o600),
  };
}
