import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { onTestFinished } from 'vitest';

import { binarySpec } from '../../local-stack/programs.ts';
import { resolveBinary } from '../../local-stack/binaries/resolve.ts';
import { temporalComponent } from '../../local-stack/components/temporal.ts';
import { Supervisor } from '../../local-stack/supervisor.ts';
import { freePort } from './free-port.ts';

export interface OwnTemporal {
  /** Address `host:port`, the same whenever the server is started. */
  readonly address: string;
  start(): Promise<void>;
  /** Stops the server; what it has stored is there again after the next start. */
  stop(): Promise<void>;
  /** Makes the server take connections and answer nothing from now on. */
  hang(): void;
  goOn(): void;
}

/** Makes a Temporal server of this test's own, not yet started: for tests that take it away. It is stopped and removed after the test. */
export async function ownTemporal(): Promise<OwnTemporal> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-temporal-'));
  const { path: binary } = await resolveBinary({
    spec: binarySpec('temporal'),
    env: process.env,
  });
  const port = await freePort();
  const runDir = join(folder, 'run');
  const signal = (name: NodeJS.Signals): void => void process.kill(Number(readFileSync(join(runDir, 'temporal.pid'), 'utf8')), name);
  let running: Supervisor | undefined;
  const temporal: OwnTemporal = {
    address: `127.0.0.1:${port}`,
    async start() {
      running = new Supervisor({
        components: [temporalComponent({ binary, databaseFile: join(folder, 'temporal.db'), port })],
        logDir: join(folder, 'logs'),
        runDir,
      });
      await running.start();
    },
    async stop() {
      await running?.stop();
      running = undefined;
    },
    hang: () => signal('SIGSTOP'),
    goOn: () => signal('SIGCONT'),
  };
  onTestFinished(async () => {
    // A process that is stopped by a signal takes no other one.
    if (running !== undefined) temporal.goOn();
    await temporal.stop();
    await rm(folder, { recursive: true, force: true });
  });
  return temporal;
}
