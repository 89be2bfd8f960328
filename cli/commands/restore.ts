import type { Command } from 'commander';

import { examples } from '../grammar.ts';

export function registerRestore(program: Command): void {
  program
    .command('restore')
    .description(
      'restore a backup, of this version or an older one, into an empty installation whose roles are stopped (KUBECONFIG, DATABASE_URL, STORAGE_URL)',
    )
    .argument('<folder>', 'folder that `parley backup` wrote')
    .option('--no-files', 'skip the files')
    .option('--force', 'replace the database, and overwrite resources and files of the same names')
    .addHelpText('after', examples('parley restore backups/2026-11-21'))
    .action(async (folder: string, flags: { readonly files: boolean; readonly force?: true }) => {
      const [{ restoreBackup }, { databaseUrl }, { withProgress }, { loadConfig }] = await Promise.all([
        import('../backup/restore-backup.ts'),
        import('../database.ts'),
        import('../with-progress.ts'),
        import('../../platform/config/config.ts'),
      ]);
      const { env } = process;
      const config = loadConfig(env);
      const { createdAt } = await withProgress((progress, signal) =>
        restoreBackup({
          folder,
          databaseUrl: databaseUrl(),
          storageUrl: flags.files ? config.STORAGE_URL : undefined,
          namespace: config.PARLEY_NAMESPACE,
          force: flags.force === true,
          env,
          progress,
          signal,
        }),
      );
      process.stderr.write(`the installation is as it was at ${createdAt}: start its roles\n`);
      if (config.VECTOR_STORE_URL !== 'pgvector:')
        process.stderr.write('  → vectors in Milvus are not part of it: parley kb reindex <org> <knowledge-base>, for each\n');
    });
}
