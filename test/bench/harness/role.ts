/** What benchmarks start on a server of their own: a database, and roles on the bundle. */
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';

import { freePorts } from '../../../local-stack/ports.ts';
import { migrate } from '../../../store/index.ts';
import { query } from '../../support/sql.ts';
import { bundle } from './bundle.ts';
import { startChild, type ChildOptions } from './child.ts';
import { Metrics } from './prometheus.ts';

/** Logs of what a run starts. */
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
  /** Beside PATH and the port. */
  readonly env: NodeJS.ProcessEnv;
  /** In place of the bundle on this Node. */
  readonly program?: Pick<ChildOptions, 'file' | 'args'>;
  /** Of the log; the role's name where absent. */
  readonly log?: string;
}

/** @returns once it says that it is ready */
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

/** @param apply in place of the migrations of this checkout */
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
