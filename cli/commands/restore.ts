import { Option, type Command } from 'commander';

import { examples } from '../grammar.ts';
import { orgOption } from '../options.ts';
import { addOutput, formatOf, writeAs, type OutputFlags } from '../output.ts';

interface RestoreFlags extends OutputFlags {
  readonly files: boolean;
  readonly force?: true;
  readonly org?: string;
  readonly document?: string;
  readonly call?: string;
  readonly dryRun?: true;
}

export function registerRestore(program: Command): void {
  const command = program
    .command('restore')
    .description(
      'restore a backup, of this version or an older one, into an empty installation whose roles are stopped; with --org bring back one organisation, or one thing of it, into an installation at work (KUBECONFIG, DATABASE_URL, STORAGE_URL)',
    )
    .argument('<folder>', 'folder that `parley backup` wrote')
    .addOption(orgOption('bring this organisation back alone'))
    .addOption(new Option('--document <id>', 'only this document of the organisation').conflicts('call'))
    .option('--call <id>', 'only this call of the organisation, with its recording')
    .option('--no-files', 'skip the files')
    .option('--force', 'replace the database, or the organisation, and overwrite resources and files of the same names')
    .option('--dry-run', 'with --org: say what would come back, and change nothing');
  addOutput(command)
    .addHelpText(
      'after',
      examples(
        'parley restore backups/2026-11-21',
        'parley restore backups/2026-11-21 --org acme --dry-run',
        'parley restore backups/2026-11-21 --org acme --call call_0198…',
      ),
    )
    .action(async (folder: string, flags: RestoreFlags) => {
      if (flags.org === undefined && (flags.document !== undefined || flags.call !== undefined || flags.dryRun === true))
        command.error('error: --document, --call and --dry-run are for one organisation: add --org');
      await (flags.org === undefined ? restoreAll(folder, flags) : restoreOne(folder, flags.org, flags));
    });
}

async function restoreAll(folder: string, flags: RestoreFlags): Promise<void> {
  const [{ restoreBackup }, { withProgress }, means] = await Promise.all([
    import('../backup/restore-backup.ts'),
    import('../with-progress.ts'),
    meansOf(flags),
  ]);
  const { createdAt, organizations } = await withProgress((progress, signal) =>
    restoreBackup({ ...means, folder, force: flags.force === true, env: process.env, progress, signal }),
  );
  await writeAs({ out: process.stdout }, formatOf(flags), { created_at: createdAt, organizations }, () => '');
  process.stderr.write(`the installation is as it was at ${createdAt}: start its roles\n`);
  if (means.vectorsAreElsewhere)
    process.stderr.write('  → vectors in Milvus are not part of it: parley kb reindex <org> <knowledge-base>, for each\n');
}

async function restoreOne(folder: string, org: string, flags: RestoreFlags): Promise<void> {
  const [{ bringBack }, { table }, { withProgress }, means] = await Promise.all([
    import('../backup/bring-back.ts'),
    import('../table.ts'),
    import('../with-progress.ts'),
    meansOf(flags),
  ]);
  const part =
    flags.call !== undefined
      ? ({ kind: 'call', id: flags.call } as const)
      : flags.document !== undefined
        ? ({ kind: 'document', id: flags.document } as const)
        : ({ kind: 'organization' } as const);
  const dryRun = flags.dryRun === true;
  const { createdAt, rows, files, objects } = await withProgress((progress, signal) =>
    bringBack({ ...means, folder, org, part, force: flags.force === true, dryRun, progress, signal }),
  );
  const value = { created_at: createdAt, organization: org, dry_run: dryRun, rows, files, objects };
  const counts = [...Object.entries(rows).map(([name, count]) => [`rows of ${name}`, String(count)]), ['files', String(files)]];
  await writeAs({ out: process.stdout }, formatOf(flags), value, () =>
    [table(['WHAT', 'COUNT'], counts), ...objects.map((object) => `${object}\n`)].join(''),
  );
  const what = part.kind === 'organization' ? `organisation ${org}` : `${part.kind} ${part.id}`;
  process.stderr.write(dryRun ? `${what} would come back\n` : `${what} is back as it was at ${createdAt}\n`);
  if (!dryRun && part.kind === 'document') process.stderr.write('  → the worker reads it again: parley kb list shows when it is done\n');
  if (!dryRun && part.kind === 'organization' && means.vectorsAreElsewhere)
    process.stderr.write(`  → vectors in Milvus are not part of it: parley kb reindex ${org} <knowledge-base>, for each\n`);
}

async function meansOf({ files }: RestoreFlags) {
  const [{ databaseUrl }, { loadConfig }] = await Promise.all([import('../database.ts'), import('../../platform/config/config.ts')]);
  const config = loadConfig(process.env);
  return {
    databaseUrl: databaseUrl(),
    storageUrl: files ? config.STORAGE_URL : undefined,
    namespace: config.PARLEY_NAMESPACE,
    vectorsAreElsewhere: config.VECTOR_STORE_URL !== 'pgvector:',
  };
}
