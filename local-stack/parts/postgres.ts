import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { Client } from 'pg';

import type { Part } from '../supervisor.ts';
import type { PostgresHome } from './postgres-home.ts';

const run = promisify(execFile);

export interface PostgresOptions {
  readonly home: PostgresHome;
  readonly port: number;
  /** File with the superuser's password; written at the first start. */
  readonly passwordFile: string;
  /** Trades durability for speed, as in tests. */
  readonly unsafeNoFsync?: boolean;
}

const user = 'parley';

/** The address of one of the server's databases. */
export function postgresUrl(options: PostgresOptions, database: string = user): string {
  return `postgres://${user}:${password(options.passwordFile)}@127.0.0.1:${options.port}/${database}`;
}

function password(file: string): string {
  if (!existsSync(file)) writeFileSync(file, randomBytes(18).toString('hex'), { mode: 0o600 });
  return readFileSync(file, 'utf8').trim();
}

export function postgresPart(options: PostgresOptions): Part {
  const { home } = options;
  return {
    name: 'postgres',
    dependsOn: [],
    prepare: (signal) => initialise(options, signal),
    command: () => ({
      file: home.binary,
      args: [
        '-D',
        home.dataDir,
        // Loopback TCP only: the path of a Unix socket has its own length limit and its own permissions.
        ...setting('listen_addresses', '127.0.0.1'),
        ...setting('port', String(options.port)),
        ...setting('unix_socket_directories', ''),
        ...setting('max_connections', '200'),
        ...setting('timezone', 'UTC'),
        ...(options.unsafeNoFsync === true
          ? [...setting('fsync', 'off'), ...setting('synchronous_commit', 'off'), ...setting('full_page_writes', 'off')]
          : []),
      ],
      ...accountOf(home),
      // The data folder is the only place that the account is sure to be able to enter.
      cwd: home.dataDir,
      env: environment(),
    }),
    check: () => withClient(postgresUrl(options, 'postgres'), (client) => client.query('select 1').then(() => undefined)),
    afterReady: () => createDatabase(options),
    // "Fast": ends the sessions; SIGTERM would wait for the last of them to leave by itself.
    stopSignal: 'SIGINT',
  };
}

const setting = (name: string, value: string): readonly string[] => ['-c', `${name}=${value}`];

const accountOf = (home: PostgresHome): { account?: { uid: number; gid: number } } =>
  home.account === undefined ? {} : { account: home.account };

/** The person's PG* variables are meant for their own servers. */
function environment(): NodeJS.ProcessEnv {
  return { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PG'))), LC_ALL: 'C.UTF-8' };
}

async function initialise(options: PostgresOptions, signal: AbortSignal): Promise<void> {
  const { home } = options;
  if (existsSync(join(home.dataDir, 'PG_VERSION')) && existsSync(join(home.dataDir, 'parley-complete'))) return;
  // Left half made by a start that was cut off.
  rmSync(home.dataDir, { recursive: true, force: true });
  mkdirSync(home.dataDir, { recursive: true, mode: 0o700 });
  const passwordCopy = join(home.dataDir, '..', `.password-${process.pid}`);
  writeFileSync(passwordCopy, `${password(options.passwordFile)}\n`, { mode: 0o600 });
  if (home.account !== undefined) {
    chownSync(home.dataDir, home.account.uid, home.account.gid);
    chownSync(passwordCopy, home.account.uid, home.account.gid);
  }
  try {
    await run(
      join(dirname(home.binary), 'initdb'),
      [
        '-D',
        home.dataDir,
        '-U',
        user,
        `--pwfile=${passwordCopy}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        ...(await localeArguments(home)),
        '--no-sync',
        '--no-instructions',
      ],
      {
        signal,
        env: environment(),
        cwd: home.dataDir,
        ...(home.account === undefined ? {} : { uid: home.account.uid, gid: home.account.gid }),
      },
    );
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    throw new Error(`initdb failed: ${stderr?.trim() || (error as Error).message}`, { cause: error });
  } finally {
    rmSync(passwordCopy, { force: true });
  }
  writeFileSync(join(home.dataDir, 'parley-complete'), '');
}

/** The same sorting and letter case on every machine, where the server brings its own locale (since 17). */
async function localeArguments(home: PostgresHome): Promise<readonly string[]> {
  const { stdout } = await run(home.binary, ['--version']);
  const major = Number(/(\d+)/.exec(stdout)?.[1]);
  return major >= 17 ? ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'] : ['--locale=C.UTF-8'];
}

async function createDatabase(options: PostgresOptions): Promise<void> {
  await withClient(postgresUrl(options, 'postgres'), async (client) => {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [user]);
    if (rowCount === 0) await client.query(`create database ${user}`);
  });
}

async function withClient<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  // An error after the answer (the server stops) has no listener otherwise and would end this process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
