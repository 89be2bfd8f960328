/** A whole installation, in the order in which nothing that is referred to can be missing: rows, resources, files. */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { megabytes } from '../../platform/megabytes.ts';
import { describeDatabase } from '../../store/index.ts';
import { explainStore } from '../database.ts';
import { UserError } from '../../platform/user-error.ts';
import { withNamespaces } from '../organization-namespaces.ts';
import { withOrganizationObjects } from '../transfer/cluster.ts';
import { exportOrganization } from '../transfer/export.ts';
import { writeFiles } from '../transfer/files.ts';
import { toYaml } from '../transfer/yaml-text.ts';
import { type BackedUpFile, type BackupManifest, databaseFile, measure, writeManifest } from './manifest.ts';
import { findProgram, seeAllRows } from './postgres-programs.ts';
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
  readonly onProgress: (line: string) => void;
}

/** @throws UserError */
export async function makeBackup(options: BackupOptions): Promise<BackupManifest> {
  const { folder, version, now, onProgress } = options;
  await prepareFolder(folder);
  const database = await saveDatabase(options);
  onProgress(`Postgres: ${megabytes(database.bytes)}`);
  const { organizations, resources } = await saveResources(options);
  onProgress(`resources: ${resources.length} of ${organizations.length} organisations, with their Secrets in clear`);
  const { storageUrl } = options;
  const files =
    storageUrl === undefined
      ? undefined
      : await withStorage(storageUrl, (storage) => saveFiles(storage, folder, (count) => onProgress(`files: ${count} …`)));
  onProgress(files === undefined ? 'files: left out' : `files: ${files.count}, ${megabytes(files.bytes)}`);
  const manifest = {
    format: 1,
    version,
    createdAt: now.toISOString(),
    organizations,
    database,
    resources,
    ...(files && { files }),
  } as const;
  await writeManifest(folder, manifest);
  return manifest;
}

async function prepareFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await readdir(folder)).length > 0)
    throw new UserError(`${folder} is not empty`, { cure: 'name a new folder: a backup never mixes with another one' });
}

async function saveDatabase({ folder, databaseUrl, env }: BackupOptions): Promise<BackupManifest['database']> {
  const facts = await explainStore(databaseUrl, () => describeDatabase({ databaseUrl }));
  if (facts.owner === undefined)
    throw new UserError('this database has no schema of Parley', { cure: 'is DATABASE_URL the one of the roles?' });
  if (!facts.seesAllRows) throw new UserError(`row-level security hides rows from the database user ${facts.user}`, { cure: seeAllRows });
  const program = await findProgram({ name: 'pg_dump', serverVersion: facts.serverVersion, databaseUrl, env });
  // pg_dump would make it as the umask says, and the folder may have existed before, readable by all users.
  await writeFile(join(folder, databaseFile), '', { mode: 0o600, flag: 'wx' });
  await program.run(['--schema=parley', '--format=custom', '--no-unlogged-table-data', `--file=${join(folder, databaseFile)}`]);
  return {
    ...(await measure(folder, databaseFile)),
    postgres: facts.serverVersion,
    owner: facts.owner,
    migrations: [...facts.migrations],
  };
}

async function saveResources({
  folder,
  organizations: chosen,
  onProgress,
}: BackupOptions): Promise<{ readonly organizations: string[]; readonly resources: BackedUpFile[] }> {
  const organizations = [...(chosen ?? (await withNamespaces((namespaces) => namespaces.list())))];
  const resources: BackedUpFile[] = [];
  for (const org of organizations) {
    const { objects, remarks } = await withOrganizationObjects((transport) =>
      exportOrganization(transport, { org, secrets: 'values', managers: true }),
    );
    for (const remark of remarks) onProgress(`${org}: ${remark}`);
    const paths = objects.map((object) => ({
      object,
      path: join('resources', org, object.kind.toLowerCase(), `${object.metadata.name}.yaml`),
    }));
    await writeFiles(
      folder,
      paths.map(({ object, path }) => ({ path, content: toYaml(object), secret: true })),
    );
    for (const { path } of paths) resources.push(await measure(folder, path));
  }
  return { organizations, resources };
}
