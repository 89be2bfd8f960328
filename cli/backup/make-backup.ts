/**
 * Backs up an installation, or organisations of it, so that nothing that is referred to can be missing: rows, then resources, then files.
 */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { megabytes } from '../../platform/megabytes.ts';
import { describeDatabase, saveRows } from '../../store/index.ts';
import { explainStore } from '../database.ts';
import { UserError } from '../../platform/user-error.ts';
import { INTERRUPTED } from '../interruptible.ts';
import { withNamespaces } from '../organization-namespaces.ts';
import type { Progress } from '../progress-bar.ts';
import { withOrganizationObjects } from '../transfer/cluster.ts';
import { exportOrganization } from '../transfer/export.ts';
import { writeFiles } from '../transfer/files.ts';
import { stringifyYaml } from '../yaml.ts';
import { type BackedUpFile, type BackedUpTable, type BackupManifest, measure, SCHEMA_FILE, writeManifest } from './manifest.ts';
import { findProgram, SEE_ALL_ROWS } from './postgres-programs.ts';
import { prefixesOf, saveFiles, withStorage } from './storage-files.ts';
import { saveTable } from './table-files.ts';

export interface BackupOptions {
  /** The folder is made where it isn't there, and has to be empty where it is. */
  readonly folder: string;
  readonly databaseUrl: string;
  /** Absent to leave the files out. */
  readonly storageUrl: string | undefined;
  /** The organisations to back up, with their rows, resources and files; everything where absent. */
  readonly organizations: readonly string[] | undefined;
  /** The only organisation of an installation that needs no label: `PARLEY_NAMESPACE`. */
  readonly namespace: string | undefined;
  readonly version: string;
  readonly env: NodeJS.ProcessEnv;
  readonly now: Date;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/**
 * Leaves nothing of a backup that isn't complete: it could be taken for one, and has Secrets in clear.
 * @throws UserError
 */
export async function makeBackup(options: BackupOptions): Promise<BackupManifest> {
  const { folder, signal } = options;
  await requireOrganizations(options);
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
  progress.line(`Postgres: ${database.tables.length} tables, ${megabytes(database.tables.reduce((sum, { bytes }) => sum + bytes, 0))}`);
  const { organizations, resources } = await saveResources(options);
  progress.line(`resources: ${resources.length} of ${organizations.length} organisations, with their Secrets in clear`);
  const { storageUrl } = options;
  const prefixes = options.organizations?.flatMap(prefixesOf) ?? [''];
  const files =
    storageUrl === undefined
      ? undefined
      : await withStorage(storageUrl, (storage) => saveFiles(storage, folder, { prefixes, progress, signal }));
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

/** @throws UserError for an organisation that the cluster doesn't have; the database is asked with the first of its rows */
async function requireOrganizations({ organizations = [], namespace }: BackupOptions): Promise<void> {
  if (organizations.length === 0) return;
  const labelled = await withNamespaces((namespaces) => namespaces.list());
  const unknown = organizations.find((org) => org !== namespace && !labelled.includes(org));
  if (unknown !== undefined) throw new UserError(`there is no organisation "${unknown}" in this cluster`, { cure: 'parley org list' });
}

/** @returns true if the folder was not there */
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

async function saveDatabase({
  folder,
  databaseUrl,
  organizations,
  env,
  progress,
  signal,
}: BackupOptions): Promise<BackupManifest['database']> {
  const facts = await explainStore(databaseUrl, () => describeDatabase({ databaseUrl }));
  if (facts.owner === undefined)
    throw new UserError('this database has no schema of Parley', { cure: 'is DATABASE_URL the one of the roles?' });
  if (!facts.seesAllRows) throw new UserError(`row-level security hides rows from the database user ${facts.user}`, { cure: SEE_ALL_ROWS });
  const program = await findProgram({ name: 'pg_dump', serverVersion: facts.serverVersion, databaseUrl, env, signal });
  const saved = await explainStore(databaseUrl, () =>
    saveRows({ databaseUrl, organizations }, async ({ snapshot, tables }) => {
      // pg_dump would make it as the umask says, and the folder may have existed before, readable by all users.
      await writeFile(join(folder, SCHEMA_FILE), '', { mode: 0o600, flag: 'wx' });
      await program.run([
        '--schema=parley',
        '--schema-only',
        '--format=custom',
        `--snapshot=${snapshot}`,
        `--file=${join(folder, SCHEMA_FILE)}`,
      ]);
      const done: BackedUpTable[] = [];
      for (const table of tables) {
        progress.show(done.length, tables.length, `tables: ${table.name}`);
        done.push(await saveTable(folder, table, signal));
      }
      return done;
    }),
  );
  return {
    schema: await measure(folder, SCHEMA_FILE, signal),
    tables: saved,
    postgres: facts.serverVersion,
    owner: facts.owner,
    migrations: [...facts.migrations],
  };
}

async function saveResources({
  folder,
  organizations: chosen,
  namespace,
  progress,
  signal,
}: BackupOptions): Promise<{ readonly organizations: string[]; readonly resources: BackedUpFile[] }> {
  const organizations = [...(chosen ?? (namespace === undefined ? await withNamespaces((namespaces) => namespaces.list()) : [namespace]))];
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
