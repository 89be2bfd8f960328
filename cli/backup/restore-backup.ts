/** Brings a backup back into an installation that is empty, and stands still. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { kinds } from '../../crds/index.ts';
import { describeDatabase, finishRestore, loadRows, migrate, prepareRestore, readMigrations } from '../../store/index.ts';
import { explainStore } from '../database.ts';
import { UserError } from '../../platform/user-error.ts';
import { INTERRUPTED } from '../interruptible.ts';
import { withNamespaces } from '../organization-namespaces.ts';
import type { Progress } from '../progress-bar.ts';
import { clientFor, withOrganizationObjects } from '../transfer/cluster.ts';
import { readDocuments } from '../transfer/files.ts';
import { applyImport, planImport } from '../transfer/import.ts';
import { readManifest, SCHEMA_FILE, verify, type BackupManifest } from './manifest.ts';
import { findProgram } from './postgres-programs.ts';
import { holdsFiles, listedFiles, putFiles, withStorage } from './storage-files.ts';
import { savedRows } from './table-files.ts';

export interface RestoreOptions {
  readonly folder: string;
  readonly databaseUrl: string;
  /** Absent to leave the files out. */
  readonly storageUrl: string | undefined;
  /** The only organisation of an installation that needs no label: `PARLEY_NAMESPACE`. */
  readonly namespace: string | undefined;
  /** Replace what is there. */
  readonly force: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly progress: Progress;
  /** Ends the restore at the next point from which it can be done again. */
  readonly signal: AbortSignal;
}

/**
 * Looks at everything before the first write. A restore can be repeated from the beginning, with `force`.
 *
 * @throws UserError
 */
export async function restoreBackup(options: RestoreOptions): Promise<BackupManifest> {
  const written = { any: false };
  try {
    return await restore(options, () => (written.any = true));
  } catch (error) {
    if (!options.signal.aborted) throw error;
    throw new UserError(
      written.any
        ? 'the restore was interrupted: the installation is not complete'
        : 'the restore was interrupted before it changed anything',
      { exitCode: INTERRUPTED, cause: error, ...(written.any && { cure: 'repeat the command with --force before any role starts' }) },
    );
  }
}

async function restore(options: RestoreOptions, onWrite: () => void): Promise<BackupManifest> {
  const { folder, storageUrl, progress, signal } = options;
  const manifest = await readManifest(folder);
  requireKnownMigrations(manifest);
  const { schema, tables } = manifest.database;
  const own = [schema, ...tables, ...manifest.resources, ...(manifest.files && storageUrl !== undefined ? [manifest.files.list] : [])];
  await verify(folder, own, { progress, signal });
  const files = manifest.files === undefined || storageUrl === undefined ? [] : await listedFiles(folder);
  await verify(folder, files, { progress, signal });
  progress.line(`the backup of ${manifest.createdAt} is whole`);
  const program = await requireRoom(options, manifest);

  signal.throwIfAborted();
  onWrite();
  await restoreDatabase(options, manifest, program);
  if (storageUrl !== undefined && files.length > 0) {
    await withStorage(storageUrl, (storage) => putFiles(storage, folder, { files, progress, signal }));
    progress.line(`files: ${files.length} are back`);
  }
  await restoreResources(options, manifest);
  return manifest;
}

function requireKnownMigrations({ database, version }: BackupManifest): void {
  const known = readMigrations().map(({ name }) => name);
  const strange = database.migrations.find((name, index) => known[index] !== name);
  if (strange === undefined) return;
  throw new UserError(`the backup was made by Parley ${version}, whose database has the migration ${strange}; this one does not know it`, {
    cure: 'restore it with the version that made it, or a newer one',
  });
}

type Program = Awaited<ReturnType<typeof findProgram>>;

/** @throws UserError naming what is in the way */
async function requireRoom({ databaseUrl, storageUrl, force, env, signal }: RestoreOptions, manifest: BackupManifest): Promise<Program> {
  const facts = await explainStore(databaseUrl, () => describeDatabase({ databaseUrl }));
  const program = await findProgram({ name: 'pg_restore', serverVersion: facts.serverVersion, databaseUrl, env, signal });
  if (facts.serverVersion < manifest.database.postgres)
    throw new UserError(`the backup is from Postgres ${manifest.database.postgres}, and this server is ${facts.serverVersion}`, {
      cure: 'restore into a server of the same version or a newer one',
    });
  if (facts.rolesConnected.length > 0)
    throw new UserError(`an installation is at work in this database: ${facts.rolesConnected.join(', ')}`, {
      cure: 'stop its roles first (docs/operations/backup.md): what they write during the restore would be lost or mixed up',
    });
  if (force) return program;
  const cure = 'restore into an empty installation, or replace what is there with --force';
  if (facts.organizations > 0) throw new UserError(`the database has ${facts.organizations} organisations already`, { cure });
  const inTheWay = await withOrganizationObjects(async (transport) => {
    for (const { descriptor } of kinds) {
      const client = clientFor(transport, descriptor, 'parley-cli');
      for (const namespace of manifest.organizations) {
        const [found] = (await client.list({ namespace, limit: 1 })).items;
        if (found !== undefined) return `${found.kind} ${namespace}/${found.metadata.name}`;
      }
    }
    return undefined;
  });
  if (inTheWay !== undefined) throw new UserError(`the cluster has ${inTheWay} already`, { cure });
  if (manifest.files !== undefined && storageUrl !== undefined && (await withStorage(storageUrl, holdsFiles)))
    throw new UserError(`the file storage ${storageUrl} has files already`, { cure });
  return program;
}

async function restoreDatabase(
  { databaseUrl, folder, progress, signal }: RestoreOptions,
  { database }: BackupManifest,
  program: Program,
): Promise<void> {
  await explainStore(databaseUrl, () => prepareRestore({ databaseUrl, owner: database.owner }));
  const dump = join(folder, SCHEMA_FILE);
  const list = join(await mkdtemp(join(tmpdir(), 'parley-restore-')), 'list');
  try {
    // The schema is there already: everything in it is restored, and the grants on it.
    const entries = (await program.answer(['--list', dump])).split('\n').filter((line) => !/^\d+; \d+ \d+ SCHEMA - /.test(line));
    await writeFile(list, entries.join('\n'));
    const restoreSection = (section: string): Promise<void> =>
      program.run(['--exit-on-error', '--single-transaction', `--section=${section}`, `--use-list=${list}`, dump]);
    progress.note('Postgres …');
    await restoreSection('pre-data');
    let begun = 0;
    const tables = database.tables.map((table) => savedRows(folder, table));
    await explainStore(databaseUrl, () =>
      loadRows({ databaseUrl, tables, signal }, (name) => progress.show((begun += 1), tables.length, `tables: ${name}`)),
    );
    progress.note('Postgres: indexes …');
    await restoreSection('post-data');
  } finally {
    await rm(dirname(list), { recursive: true, force: true });
  }
  await explainStore(databaseUrl, async () => {
    const { applied } = await migrate({ databaseUrl });
    await finishRestore({ databaseUrl });
    progress.line(`Postgres: is back${applied.length === 0 ? '' : `, and has ${applied.length} newer migrations`}`);
  });
  signal.throwIfAborted();
}

async function restoreResources(
  { folder, namespace, force, progress, signal }: RestoreOptions,
  { organizations, resources }: BackupManifest,
): Promise<void> {
  for (const org of organizations) {
    if (org !== namespace) await withNamespaces((namespaces) => namespaces.ensure(org));
    const prefix = `${join('resources', org)}/`;
    const paths = resources.filter(({ path }) => path.startsWith(prefix)).map(({ path }) => join(folder, path));
    const planned = planImport(await readDocuments(paths), org);
    let applied = 0;
    const onApplied = (): void => {
      signal.throwIfAborted();
      applied += 1;
      progress.show(applied, planned.length, `objects of ${org}`);
    };
    await withOrganizationObjects((transport) => applyImport(transport, planned, { force, dryRun: false, onApplied }));
    progress.line(`${org}: ${planned.length} objects are back`);
  }
}
