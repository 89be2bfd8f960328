/** `pg_dump` and `pg_restore`: those of Postgres itself know best what a database is made of. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

import { cachedExecutable, cacheFolder } from '../../local-stack/binaries/cache.ts';
import { binarySpec } from '../../local-stack/programs.ts';
import { UserError } from '../../platform/user-error.ts';

export interface PostgresProgram {
  /** Runs the program against the database. @throws UserError with what the program said */
  run(args: readonly string[]): Promise<void>;
  /** Runs the program without a database. @returns its standard output */
  answer(args: readonly string[]): Promise<string>;
}

export interface ProgramOptions {
  readonly name: 'pg_dump' | 'pg_restore';
  /** Version of the server: an older program would not understand it. */
  readonly serverVersion: number;
  readonly databaseUrl: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/** Finds the first program that is new enough: on PATH, in Debian's folder, or in the local stack's own. @throws UserError when none is */
export async function findProgram(options: ProgramOptions): Promise<PostgresProgram> {
  const { name, serverVersion, env, signal } = options;
  const found: string[] = [];
  for (const path of candidates(options)) {
    if (!existsSync(path)) continue;
    const { code, stdout } = await execute(path, ['--version'], { env, signal }).catch(() => ({ code: 1, stdout: '' }));
    const version = Number(/\(PostgreSQL\) (\d+)/.exec(stdout)?.[1]);
    if (code === 0 && version >= serverVersion) {
      return {
        async run(args) {
          await runWith(path, [...connection(options.databaseUrl), ...args], options);
        },
        answer: (args) => runWith(path, args, options),
      };
    }
    found.push(`${path} is of version ${Number.isNaN(version) ? 'unknown' : version}`);
  }
  throw new UserError(`there is no ${name} for Postgres ${serverVersion}${found.length === 0 ? '' : `: ${found.join(', ')}`}`, {
    cure: `install it (packages are named like postgresql-client-${serverVersion}) and have it on PATH`,
  });
}

function* candidates({ name, serverVersion, env }: ProgramOptions): Generator<string> {
  for (const folder of (env['PATH'] ?? '').split(delimiter)) if (folder !== '') yield join(folder, name);
  yield `/usr/lib/postgresql/${serverVersion}/bin/${name}`;
  const server = cachedExecutable(cacheFolder(env), binarySpec('postgres'));
  if (server !== undefined) yield join(dirname(server), name);
}

/** All users can read the arguments of a process but not its environment: the password goes there. */
function connection(databaseUrl: string): readonly string[] {
  const url = new URL(databaseUrl);
  url.password = '';
  return [`--dbname=${url.href}`];
}

async function runWith(path: string, args: readonly string[], { name, databaseUrl, env, signal }: ProgramOptions): Promise<string> {
  const password = decodeURIComponent(new URL(databaseUrl).password);
  const own = { ...env, ...(password !== '' && { PGPASSWORD: password }), PGAPPNAME: 'parley backup' };
  const { code, stdout, stderr } = await execute(path, args, { env: own, signal });
  if (code === 0) return stdout;
  const said = stderr.trim().split('\n').slice(-5).join('\n  ');
  throw new UserError(`${name} failed: ${said}`, /row-level security/.test(stderr) ? { cure: SEE_ALL_ROWS } : {});
}

export const SEE_ALL_ROWS =
  'let DATABASE_URL name a superuser, or a member of the owner of the tables that a superuser has given BYPASSRLS to: docs/operations/backup.md';

/** Settles when the program has ended, also after an abort: nothing writes to its files from then on. */
function execute(
  path: string,
  args: readonly string[],
  { env, signal }: Pick<ProgramOptions, 'env' | 'signal'>,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const child = spawn(path, args, { env, signal, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr = (stderr + text).slice(-20_000)));
    child.on('error', (error) => {
      if (!signal.aborted) reject(error);
    });
    child.once('close', (code) => {
      if (signal.aborted) reject(signal.reason as Error);
      else resolve({ code, stdout, stderr });
    });
  });
}
