/** A whole installation, in the order in which nothing that is referred to can be missing: rows, resources, files. */
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { megabytes } from '../../platform/megabytes.ts';
import { describeDatabase } from '../../store/index.ts';
import { explainStore } from '../database.ts';
import { UserError } from '../../platform/user-error.ts';
import { INTERRUPTED } from '../interruptible.ts';
import { withNamespaces } from '../organization-namespaces.ts';
import type { Progress } from '../progress-bar.ts';
import { withOrganizationObjects } from '../transfer/cluster.ts';
import { exportOrganization } from '../transfer/export.ts';
import { writeFiles } from '../transfer/files.ts';
import { stringifyYaml } from '../yaml.ts';
import { type BackedUpFile, type BackupManifest, DATABASE_FILE, measure, writeManifest } from './manifest.ts';
import { findProgram, SEE_ALL_ROWS } from './postgres-programs.ts';
import { saveFiles, withStorage } from './storage-files.ts';

export interface BackupOptions {
  /** Made where it isn't there; empty where it is. */
  readonly folder: string;
  readonly databaseUrl: string;
  /** Absent: the files are not part of the backup. */
  readonly storageUrl: string | undefined;
  /** The organisations to back up; all where absent. The database is always complete. */
  readonly organizations?: readonly string[] | undefined;
  /** Of Parley. */
  readonly version: string;
  readonly env: NodeJS.ProcessEnv;
  readonly now: Date;
  readonly progress: Progress;
  /** Aborts the backup. */
  readonly signal: AbortSignal;
}

/** A look at the size of the dump, in milliseconds. */
const LOOK_EVERY_MS = 1_000;

/**
 * Leaves nothing of a backup that isn't complete: it could be taken for one, and has Secrets in clear.
 * @throws UserError
 */
export async function makeBackup(options: BackupOptions): Promise<BackupManifest> {
  const { folder, signal } = options;
  const isNew = await prepareFolder(folder);
  try {
    return await writeBackup(options);
  } catch (error) {
    await removeContent(folder, isNew);
    if (!signal.aborted) throw error;
    throw new UserError('the backup was interrupted: what it had written is removed', { exitCode: INTERRUPTED, cause: error });
  }
}

async function writeBackup(options: BackupOptions): Promise<BackupManifest> {
  const { folder, version, now, progress, signal } = options;
  const database = await saveDatabase(options);
  progress.line(`Postgres: ${megabytes(database.bytes)}`);
  const { organizations, resources } = await saveResources(options);
  progress.line(`resources: ${resources.length} of ${organizations.length} organisations, with their Secrets in clear`);
  const { storageUrl } = options;
  const files =
    storageUrl === undefined ? undefined : await withStorage(storageUrl, (storage) => saveFiles(storage, folder, { progress, signal }));
  progress.line(files === undefined ? 'files: left out' : `files: ${files.count}, ${megabytes(files.bytes)}`);
  const manifest = {
    format: 1,
    version,
    createdAt: now.toISOString(),
    organizations,
    database,
    resources,
    ...(files && { files }),
  } as const;
  signal.throwIfAborted();
  await writeManifest(folder, manifest);
  return manifest;
}

/** @returns whether it was not there */
async function prepareFolder(folder: string): Promise<boolean> {
  const made = await mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await readdir(folder)).length > 0)
    throw new UserError(`${folder} is not empty`, { cure: 'name a new folder: a backup never mixes with another one' });
  return made !== undefined;
}

async function removeContent(folder: string, itself: boolean): Promise<void> {
  const paths = itself ? [folder] : (await readdir(folder)).map((name) => join(folder, name));
  for (const path of paths) await rm(path, { recursive: true, force: true });
}

async function saveDatabase({ folder, databaseUrl, env, progress, signal }: BackupOptions): Promise<BackupManifest['database']> {
  const facts = await explainStore(databaseUrl, () => describeDatabase({ databaseUrl }));
  if (facts.owner === undefined)
    throw new UserError('this database has no schema of Parley', { cure: 'is DATABASE_URL the one of the roles?' });
  if (!facts.seesAllRows) throw new UserError(`row-level security hides rows from the database user ${facts.user}`, { cure: SEE_ALL_ROWS });
  const program = await findProgram({ name: 'pg_dump', serverVersion: facts.serverVersion, databaseUrl, env, signal });
  // pg_dump would make it as the umask says, and the folder may have existed before, readable by all users.
  const dump = join(folder, DATABASE_FILE);
  await writeFile(dump, '', { mode: 0o600, flag: 'wx' });
  const look = async (): Promise<void> => progress.note(`Postgres … ${megabytes((await stat(dump)).size)}`);
  const looks = setInterval(() => void look().catch(() => undefined), LOOK_EVERY_MS);
  await program
    .run(['--schema=parley', '--format=custom', '--no-unlogged-table-data', `--file=${dump}`])
    .finally(() => clearInterval(looks));
  return {
    ...(await measure(folder, DATABASE_FILE, signal)),
    postgres: facts.serverVersion,
    owner: facts.owner,
    migrations: [...facts.migrations],
  };
}

async function saveResources({
  folder,
  organizations: chosen,
  progress,
  signal,
}: BackupOptions): Promise<{ readonly organizations: string[]; readonly resources: BackedUpFile[] }> {
  const organizations = [...(chosen ?? (await withNamespaces((namespaces) => namespaces.list())))];
  const resources: BackedUpFile[] = [];
  for (const [index, org] of organizations.entries()) {
    signal.throwIfAborted();
    progress.show(index, organizations.length, 'organisations');
    const { objects, remarks } = await withOrganizationObjects((transport) =>
      exportOrganization(transport, { org, secrets: 'values', managers: true }),
    );
    for (const remark of remarks) progress.line(`${org}: ${remark}`);
    const paths = objects.map((object) => ({
      object,
      path: join('resources', org, object.kind.toLowerCase(), `${object.metadata.name}.yaml`),
    }));
    await writeFiles(
      folder,
      paths.map(({ object, path }) => ({ path, content: stringifyYaml(object, { sorted: true }), secret: true })),
    );
    for (const { path } of paths) resources.push(await measure(folder, path, signal));
  }
  return { organizations, resources };
}
