import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { cacheFolder } from '../../../cli/dev/binaries/cache.ts';
import { binarySpec } from '../../../cli/dev/binaries/catalogue.ts';
import { currentPlatform } from '../../../cli/dev/binaries/platform.ts';
import { resolveBinary } from '../../../cli/dev/binaries/resolve.ts';
import { postgresHome, removePostgresData } from '../../../cli/dev/parts/postgres-home.ts';
import { postgresPart, postgresUrl } from '../../../cli/dev/parts/postgres.ts';
import { freePorts } from '../../../cli/dev/ports.ts';
import { repositoryRoot } from '../../../cli/dev/repository.ts';
import { Supervisor } from '../../../cli/dev/supervisor.ts';

export interface OwnPostgres {
  readonly url: string;
  /** SIGKILL to the server's first process, as the kernel's out-of-memory killer does it; it is started again by its supervisor. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

/** A server for one test alone, with every write on disk before it is acknowledged, that can be killed. */
export async function ownPostgres(): Promise<OwnPostgres> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-own-postgres-'));
  await chmod(folder, 0o755);
  const { path: binary } = await resolveBinary({
    spec: binarySpec('postgres'),
    env: process.env,
    cache: cacheFolder(process.env),
    platform: currentPlatform(),
    tools: join(repositoryRoot(), 'tools'),
    onProgress: () => undefined,
  });
  const [port = 0] = await freePorts(1);
  const options = { home: postgresHome({ stateDir: folder, binary }), port, passwordFile: join(folder, 'password') };
  const supervisor = new Supervisor({ parts: [postgresPart(options)], logDir: join(folder, 'logs'), runDir: join(folder, 'run') });
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
