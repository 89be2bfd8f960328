/** Creates databases and starts roles on the bundle for benchmarks. */
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';

import { freePorts } from '../../../local-stack/ports.ts';
import { migrate } from '../../../store/index.ts';
import { query } from '../../support/sql.ts';
import { bundle } from './bundle.ts';
import { startChild, type ChildOptions } from './child.ts';
import { Metrics } from './prometheus.ts';

/** Folder of the logs of a run. */
export const LOG_FOLDER = fileURLToPath(new URL('../.build/', import.meta.url));

export interface BenchRole {
  readonly pid: number;
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  metrics(): Promise<Metrics>;
  stop(): Promise<void>;
}

export interface StartRoleOptions {
  readonly role: 'api' | 'dispatcher' | 'operator' | 'voice' | 'worker';
  /** Environment in addition to PATH and the port. */
  readonly env: NodeJS.ProcessEnv;
  /** Program in place of the bundle on this Node. */
  readonly program?: Pick<ChildOptions, 'file' | 'args'>;
  /** Name of the log; the role's name where absent. */
  readonly log?: string;
}

/** Returns when the role says that it is ready. */
export async function startRole({
  role,
  env,
  program = { file: process.execPath, args: [bundle, role] },
  log = role,
}: StartRoleOptions): Promise<BenchRole> {
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const child = startChild({
    ...program,
    env: { PATH: process.env['PATH'], ...env, [`PARLEY_${role.toUpperCase()}_PORT`]: String(port) },
    logFile: `${LOG_FOLDER}${log}.log`,
  });
  try {
    await child.until('ready', async () => (await fetch(`${url}/readyz`)).ok);
  } catch (error) {
    await child.stop();
    throw error;
  }
  return {
    pid: child.pid,
    url,
    metrics: async () => Metrics.parse(await (await fetch(`${url}/metrics`)).text()),
    stop: () => child.stop(),
  };
}

/** @param apply replaces the migrations of this checkout */
export async function createDatabase(
  server: string,
  apply: (databaseUrl: string) => Promise<unknown> = (databaseUrl) => migrate({ databaseUrl }),
): Promise<{ readonly url: string; drop(): Promise<void> }> {
  const name = `bench_${randomBytes(6).toString('hex')}`;
  await query(server, `create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  await apply(url.href);
  return { url: url.href, drop: async () => void (await query(server, `drop database if exists ${name} with (force)`)) };
}
