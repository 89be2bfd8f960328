/** Brings one organisation, document or call back from a backup, into an installation that works on. */
import { join } from 'node:path';

import { recordingKey } from '../../calls/names.ts';
import { documentFolder } from '../../knowledge/ingestion/clear-document.ts';
import { UserError } from '../../platform/user-error.ts';
import { bringBackRows, describeDatabase, StoreError, type PartOfBackup, type RowsBroughtBack } from '../../store/index.ts';
import { explainStore } from '../database.ts';
import { INTERRUPTED } from '../interruptible.ts';
import { withNamespaces } from '../organization-namespaces.ts';
import type { Progress } from '../progress-bar.ts';
import { withOrganizationObjects } from '../transfer/cluster.ts';
import { readDocuments } from '../transfer/files.ts';
import { applyImport, planImport } from '../transfer/import.ts';
import { readManifest, verify, type BackedUpFile, type BackupManifest } from './manifest.ts';
import { listedFiles, prefixesOf, putFiles, withStorage } from './storage-files.ts';
import { savedRows } from './table-files.ts';

export interface BringBackOptions {
  readonly folder: string;
  readonly org: string;
  readonly part: PartOfBackup;
  readonly databaseUrl: string;
  /** Absent to leave the files out. */
  readonly storageUrl: string | undefined;
  /** The only organisation of an installation that needs no label: `PARLEY_NAMESPACE`. */
  readonly namespace: string | undefined;
  /** Replace an organisation that is there. */
  readonly force: boolean;
  readonly dryRun: boolean;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

export interface BroughtBack {
  readonly createdAt: string;
  readonly rows: RowsBroughtBack;
  readonly files: number;
  /** `Kind/name` of the resources, Secrets and ConfigMaps that were applied. */
  readonly objects: readonly string[];
}

/**
 * Restores rows in one transaction, with the files before its end, and resources afterwards. It leaves what is there as it is.
 * @throws UserError naming what is in the way or what the backup lacks
 */
export async function bringBack(options: BringBackOptions): Promise<BroughtBack> {
  const { signal, org } = options;
  let hasRows = false;
  try {
    return await bringParts(options, () => (hasRows = true));
  } catch (error) {
    if (!signal.aborted) throw error;
    const [how, cure] = hasRows
      ? [
          'rows and files are back, but not all resources',
          `repeat the command with --force, or: parley import ${options.folder}/resources/${org}`,
        ]
      : ['no rows have come back', 'repeat the command'];
    throw new UserError(`the restore was interrupted: ${how}`, { exitCode: INTERRUPTED, cause: error, cure });
  }
}

async function bringParts(options: BringBackOptions, onRows: () => void): Promise<BroughtBack> {
  const { folder, org, part, databaseUrl, storageUrl, dryRun, progress, signal } = options;
  const manifest = await readManifest(folder);
  requireOrganization(manifest, options);
  await requireSameSchema(manifest, databaseUrl);
  const tables = manifest.database.tables.filter(({ name, columns }) => isNeeded(part, name, columns));
  const files = storageUrl === undefined || manifest.files === undefined ? [] : (await listedFiles(folder)).filter(isInPart(org, part));
  const resources = part.kind === 'organization' ? resourcesOf(manifest, org) : [];
  await verify(folder, [...tables, ...files, ...resources], { progress, signal });
  const isWhole = part.kind === 'organization';
  if (isWhole && !dryRun) await withNamespaces((namespaces) => namespaces.prepare(org));
  const rows = await explain(options, () =>
    bringBackRows({
      databaseUrl,
      org,
      part,
      tables: tables.map((table) => savedRows(folder, table)),
      files: storageUrl === undefined ? undefined : new Set(files.map(({ path }) => path.slice('files/'.length))),
      replace: options.force,
      dryRun,
      onTable: (name) => progress.note(`table ${name} …`),
      beforeCommit: async () => {
        if (storageUrl !== undefined && !dryRun)
          await withStorage(storageUrl, (storage) => putFiles(storage, folder, { files, progress, signal }));
      },
      signal,
    }),
  );
  if (!dryRun) onRows();
  const objects = isWhole ? await bringResources(options, resources) : [];
  return { createdAt: manifest.createdAt, rows, files: files.length, objects };
}

function requireOrganization({ organizations }: BackupManifest, { folder, org }: BringBackOptions): void {
  if (organizations.includes(org)) return;
  throw new UserError(`the backup in ${folder} has no organisation "${org}"`, {
    cure: `it has ${organizations.length === 0 ? 'none' : organizations.join(', ')}`,
  });
}

/** Rows fit only into tables of the schema that they come from. */
async function requireSameSchema({ version, database }: BackupManifest, databaseUrl: string): Promise<void> {
  const { migrations } = await explainStore(databaseUrl, () => describeDatabase({ databaseUrl }));
  if (migrations.join() === database.migrations.join()) return;
  throw new UserError(`the backup was made by Parley ${version}, whose tables are not those of this database`, {
    cure: 'restore it into an empty installation (parley restore without --org migrates it), back that up, and bring it back from there',
  });
}

const isNeeded = ({ kind }: PartOfBackup, name: string, columns: readonly string[]): boolean =>
  kind === 'organization' ||
  (kind === 'call' ? name === 'calls' || columns.includes('call_id') : ['documents', 'collections'].includes(name));

function isInPart(org: string, part: PartOfBackup): (file: BackedUpFile) => boolean {
  if (part.kind === 'call') return ({ path }) => path === `files/${recordingKey(org, part.id)}`;
  if (part.kind === 'document') return ({ path }) => path.startsWith(`files/${documentFolder(org, part.id)}`);
  return ({ path }) => prefixesOf(org).some((prefix) => path.startsWith(`files/${prefix}`));
}

const resourcesOf = ({ resources }: BackupManifest, org: string): readonly BackedUpFile[] =>
  resources.filter(({ path }) => path.startsWith(`${join('resources', org)}/`));

/** A namespace that was gone gets its label last: the roles look at it when everything is in it. */
async function bringResources(
  { folder, org, namespace, force, dryRun, progress, signal }: BringBackOptions,
  resources: readonly BackedUpFile[],
): Promise<readonly string[]> {
  const planned = planImport(await readDocuments(resources.map(({ path }) => join(folder, path))), org);
  const isThere = await withNamespaces((namespaces) => namespaces.exists(org));
  // The server checks nothing in a namespace that it doesn't have.
  if (dryRun && !isThere) return planned.map(({ object }) => `${object.kind}/${object.metadata.name}`);
  const applied: string[] = [];
  const onApplied = ({ kind, metadata }: { readonly kind: string; readonly metadata: { readonly name: string } }): void => {
    signal.throwIfAborted();
    applied.push(`${kind}/${metadata.name}`);
    progress.show(applied.length, planned.length, `objects of ${org}`);
  };
  try {
    await withOrganizationObjects((transport) => applyImport(transport, planned, { force, dryRun, keepExisting: !force, onApplied }));
  } finally {
    // The error names what was refused; the rest is in service.
    if (!dryRun && org !== namespace && !signal.aborted) await withNamespaces((namespaces) => namespaces.ensure(org));
  }
  return applied;
}

async function explain<T>({ databaseUrl, part, org }: BringBackOptions, work: () => Promise<T>): Promise<T> {
  try {
    return await explainStore(databaseUrl, work);
  } catch (error) {
    const cause = error instanceof UserError ? error.cause : undefined;
    if (!(cause instanceof StoreError) || (cause.kind !== 'conflict' && cause.kind !== 'not_found')) throw error;
    throw new UserError(cause.message, { cause, cure: cures[part.kind][cause.kind](org) });
  }
}

const cures = {
  organization: {
    conflict: () => 'add --force to replace all that it has, or bring one thing back with --document or --call',
    not_found: () => 'name an organisation that the backup has',
  },
  call: {
    conflict: () => 'delete it first to have it as it was: DELETE /v1/calls/{id}',
    not_found: (org: string) => `is it another backup? An organisation that is gone comes back whole: --org ${org} alone`,
  },
  document: {
    conflict: () => 'if it is being deleted, let a worker run and repeat this in a minute; otherwise there is nothing to bring back',
    not_found: (org: string) =>
      `is it another backup, or one without files? A knowledge base comes back with its resource: parley import <folder>/resources/${org}`,
  },
} as const satisfies Record<PartOfBackup['kind'], Record<'conflict' | 'not_found', (org: string) => string>>;
