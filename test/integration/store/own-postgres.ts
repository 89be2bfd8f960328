import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { binarySpec } from '../../../local-stack/programs.ts';
import { resolveBinary } from '../../../local-stack/binaries/resolve.ts';
import { postgresInstallation, removePostgresData } from '../../../local-stack/components/postgres-installation.ts';
import { postgresComponent, postgresUrl } from '../../../local-stack/components/postgres.ts';
import { freePorts } from '../../../local-stack/ports.ts';
import { Supervisor } from '../../../local-stack/supervisor.ts';

export interface OwnPostgres {
  readonly url: string;
  /** Sends SIGKILL to the server's first process, as the kernel's out-of-memory killer does; its supervisor starts it again. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a server for one test alone, with every write on disk before it is acknowledged, that can be killed. */
export async function ownPostgres(): Promise<OwnPostgres> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-own-postgres-'));
  await chmod(folder, 0o755);
  const { path: binary } = await resolveBinary({
    spec: binarySpec('postgres'),
    env: process.env,
  });
  const [port = 0] = await freePorts(1);
  const options = { installation: postgresInstallation({ stateDir: folder, binary }), port, passwordFile: join(folder, 'password') };
  const supervisor = new Supervisor({
    components: [postgresComponent(options)],
    logDir: join(folder, 'logs'),
    runDir: join(folder, 'run'),
  });
  await supervisor.start();
  return {
    url: postgresUrl(options),
    async kill() {
      process.kill(Number(await readFile(join(folder, 'run/postgres.pid'), 'utf8')), 'SIGKILL');
    },
    async stop() {
      await supervisor.stop();
      removePostgresData(folder);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
